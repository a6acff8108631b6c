#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/result.h"

namespace culprit::sys {

// Fd closes what it holds.
class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd() { Close(); }
  void Close();
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

// OpenFile opens a regular file, and never waits: a pipe in its place would keep its opener until
// somebody opens the other end. flags are those of open(2), without O_CLOEXEC, which is always set;
// a file that O_CREAT makes has the usual permissions, 0666 less the umask.
//
// Fails with kNotFound, or with kUnreadable: no permission, a link that leads nowhere, a folder, a
// pipe or a device.
base::Result<Fd> OpenFile(const std::string& path, int flags);

// ReadAt fills a buffer with what an open file holds from a byte on, and returns how much that is:
// less than the buffer at the end of the file, or where it cannot be read.
std::size_t ReadAt(const Fd& file, std::uint64_t from, std::span<char> buffer);

}  // namespace culprit::sys
