#include "sys/open_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace culprit::sys {
namespace {

using base::ErrorCode;
using base::Fail;

bool IsLink(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode);
}

base::Error NotOpened(const std::string& path, int error) {
  if (error == ENXIO) return {ErrorCode::kUnreadable, "is a pipe or a device, not a file", path};
  if (error == ENOENT && IsLink(path)) {
    return {ErrorCode::kUnreadable, "is a link that leads nowhere", path};
  }
  const bool missing = error == ENOENT || error == ENOTDIR;
  return {missing ? ErrorCode::kNotFound : ErrorCode::kUnreadable, std::strerror(error), path};
}

}  // namespace

void Fd::Close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

base::Result<Fd> OpenFile(const std::string& path, int flags) {
  // O_NONBLOCK means nothing for files.
  Fd fd(::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666));
  if (fd.get() < 0) return Fail(NotOpened(path, errno));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) {
    return Fail(ErrorCode::kUnreadable, std::strerror(errno), path);
  }
  if (S_ISDIR(info.st_mode)) return Fail(ErrorCode::kUnreadable, "is a folder, not a file", path);
  if (!S_ISREG(info.st_mode)) {
    const bool reads = (flags & O_ACCMODE) == O_RDONLY;
    return Fail(ErrorCode::kUnreadable, "is a pipe or a device, not a file", path,
                reads ? "save what it holds to a file first" : "");
  }
  return fd;
}

std::size_t ReadAt(const Fd& file, std::uint64_t from, std::span<char> buffer) {
  std::size_t have = 0;
  while (have < buffer.size()) {
    const auto rest = buffer.subspan(have);
    const ssize_t n =
        ::pread(file.get(), rest.data(), rest.size(), static_cast<off_t>(from + have));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    have += static_cast<std::size_t>(n);
  }
  return have;
}

}  // namespace culprit::sys
