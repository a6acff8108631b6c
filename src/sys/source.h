#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace culprit::sys {

// ByteStream yields the bytes of a file from front to back, decompressed.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  // Read fills at most buffer.size() bytes and returns how many; 0 is the end. A compressed file
  // that breaks off yields what it holds and then fails with kDamagedTrace.
  virtual base::Result<std::size_t> Read(std::span<char> buffer) = 0;
};

// Bytes owns a read-only block of memory, or keeps one that somebody else owns.
class Bytes {
 public:
  Bytes() = default;
  Bytes(std::shared_ptr<const void> owner, std::string_view view)
      : owner_(std::move(owner)), view_(view) {}
  [[nodiscard]] std::string_view view() const { return view_; }

 private:
  std::shared_ptr<const void> owner_;
  std::string_view view_;
};

enum class Compression { kNone, kGzip, kXz };

// ThirdOfMemory is a third of this machine's memory in bytes: a block that doubles until it holds
// that much needs three times as much while it is copied.
std::size_t ThirdOfMemory();

// IsCompressed tells whether bytes begin like a gzip or xz file.
bool IsCompressed(std::string_view bytes);

// Source is a file that a reader may look at: by path, as a stream or as a block of memory.
// Compression (gzip, xz) is found by content and undone here; readers never see it.
//
// Owner: the caller of Open; readers borrow it for one Read.
class Source {
 public:
  // Open looks at the start of the file. Fails with kNotFound, kUnreadable (a folder, a
  // pipe, no permission) or kNotATrace (an empty file).
  static base::Result<Source> Open(const std::string& path);
  // FromMemory is a source without a file, for tests and fuzzing. It may be empty.
  static Source FromMemory(std::string name, std::string bytes);

  // path as given by the user; for messages and for finding companions (a journal).
  [[nodiscard]] const std::string& path() const { return path_; }
  // head is the start of the decompressed content, at most 64 KiB.
  [[nodiscard]] std::string_view head() const { return head_; }
  [[nodiscard]] Compression compression() const { return compression_; }
  // on_disk tells whether path() names a plain file with exactly these bytes.
  [[nodiscard]] bool on_disk() const { return !memory_ && compression_ == Compression::kNone; }

  // Stream starts again at the front each time it is called.
  [[nodiscard]] base::Result<std::unique_ptr<ByteStream>> Stream() const;
  // ReadAll returns the whole decompressed content, in anonymous memory. Fails with kUnreadable
  // when a compressed file unpacks to more than unpacked_limit: 1 MB may hold 1 GB of zeros.
  [[nodiscard]] base::Result<Bytes> ReadAll(std::size_t unpacked_limit = ThirdOfMemory()) const;

 private:
  std::string path_;
  std::string head_;
  Compression compression_ = Compression::kNone;
  std::shared_ptr<const std::string> memory_;  // set by FromMemory only
};

// ReadWhole opens a file and reads all of it, unpacked; it fails as Open and ReadAll do.
base::Result<Bytes> ReadWhole(const std::string& path);

}  // namespace culprit::sys
