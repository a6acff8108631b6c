#include "sys/text_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace culprit::sys {
namespace {

using base::ErrorCode;
using base::Fail;
using base::Result;

Result<std::string> ReadOpen(int fd, const std::string& path) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return Fail(ErrorCode::kUnreadable, std::strerror(errno), path);
  if (!S_ISREG(info.st_mode)) return Fail(ErrorCode::kUnreadable, "is no regular file", path);
  std::string text;
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t n = ::read(fd, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Fail(ErrorCode::kUnreadable, std::strerror(errno), path);
    if (n == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(n));
    if (text.size() > kLargestText) {
      return Fail(ErrorCode::kUnreadable, fmt::format("is larger than {} MiB", kLargestText >> 20),
                  path);
    }
  }
}

}  // namespace

Result<std::string> ReadText(const std::string& path) {
  // O_NONBLOCK: opening a pipe that nobody writes to would wait for ever.
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) {
    const bool missing = errno == ENOENT || errno == ENOTDIR;
    return Fail(missing ? ErrorCode::kNotFound : ErrorCode::kUnreadable, std::strerror(errno),
                path);
  }
  auto text = ReadOpen(fd, path);
  ::close(fd);
  return text;
}

}  // namespace culprit::sys
