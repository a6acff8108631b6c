#include "sys/text_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "sys/open_file.h"

namespace culprit::sys {
namespace {

using base::ErrorCode;
using base::Fail;
using base::Result;

Result<std::string> ReadOpen(int fd, const std::string& path) {
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
  const auto file = OpenFile(path, O_RDONLY);
  if (!file) return Fail(file.error());
  return ReadOpen(file->get(), path);
}

}  // namespace culprit::sys
