// sha256: libcrypto's, and what has been hashed before.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sys/stop_signal.h"

namespace culprit::sys {

// Sha256 hashes bytes as they come. Hex ends it: 64 lower-case digits.
class Sha256 {
 public:
  Sha256();
  Sha256(Sha256&&) noexcept = default;
  ~Sha256();
  void Update(std::string_view bytes);
  std::string Hex();

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

// Sha256Of is the hash of bytes in memory.
std::string Sha256Of(std::string_view bytes);

// HashProgress is told, every so often, how many bytes of a file are hashed, and of how many.
using HashProgress =
    std::function<void(const std::string& path, std::uint64_t done, std::uint64_t size)>;

// FileHashes hashes files of any size, and remembers them in hashes.json of a folder: a model of
// 20 GB is read once. A file counts as the same while its device, inode, size and times of change
// (contents and inode, in ns) are.
//
// Owner of the folder: whoever gives it; it is made when needed, "" remembers nothing. A cache that
// cannot be read or written costs time and is no error.
class FileHashes {
 public:
  explicit FileHashes(std::string folder = "", HashProgress progress = {})
      : folder_(std::move(folder)), progress_(std::move(progress)) {}
  // Of fails with kNotFound, kUnreadable (a folder; changed while it was read) or kInterrupted.
  base::Result<std::string> Of(const std::string& path, const StopSignal& stop) const;

 private:
  std::string folder_;
  HashProgress progress_;
};

}  // namespace culprit::sys
