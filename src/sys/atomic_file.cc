#include "sys/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "sys/open_file.h"

namespace culprit::sys {
namespace {

using base::ErrorCode;
using base::Fail;
using base::Status;

tl::unexpected<base::Error> Failed(const std::string& path) {
  return Fail(ErrorCode::kUnreadable, std::string("cannot be written: ") + std::strerror(errno),
              path);
}

// A terminal, /dev/null, the pipe of a shell's >(…). One that nobody reads is not waited for.
Status WriteIntoDevice(const std::string& path, std::string_view text) {
  const Fd device(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (device.get() < 0 && errno == ENXIO) {
    return Fail(ErrorCode::kUnreadable, "is a pipe that nobody reads", path);
  }
  if (device.get() < 0) return Failed(path);
  const int flags = ::fcntl(device.get(), F_GETFL);
  const bool waits = ::fcntl(device.get(), F_SETFL, flags & ~O_NONBLOCK) == 0;
  if (!waits || !WriteAll(device.get(), text)) return Failed(path);
  return {};
}

}  // namespace

bool WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

Status FlushFolder(const std::string& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return Failed(folder);
  const bool flushed = ::fsync(fd) == 0 || errno == EINVAL;
  const int error = errno;
  ::close(fd);
  errno = error;
  if (!flushed) return Failed(folder);
  return {};
}

Status WriteFileAtomically(const std::string& path, std::string_view text) {
  struct stat info {};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) {
    errno = EISDIR;
    return Failed(path);
  }
  if (exists && !S_ISREG(info.st_mode)) return WriteIntoDevice(path, text);

  std::string temporary = path + ".XXXXXX";
  const int fd = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) return Failed(path);
  // mkostemp makes files for the owner alone; a report has the usual permissions.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  const mode_t mode = exists ? (info.st_mode & 07777) : (0666 & ~mask);
  bool good = WriteAll(fd, text) && ::fchmod(fd, mode) == 0 && ::fsync(fd) == 0;
  int error = errno;
  if (::close(fd) != 0 && good) {
    good = false;
    error = errno;
  }
  if (good && ::rename(temporary.c_str(), path.c_str()) != 0) {
    good = false;
    error = errno;
  }
  if (good) return {};
  ::unlink(temporary.c_str());
  errno = error;
  return Failed(path);
}

Status AppendToFile(const std::string& path, std::string_view text) {
  auto file = OpenFile(path, O_WRONLY | O_APPEND | O_CREAT);
  if (!file) {
    file.error().message = "cannot be written: " + file.error().message;
    return Fail(std::move(file.error()));
  }
  if (!WriteAll(file->get(), text)) return Failed(path);
  return {};
}

}  // namespace culprit::sys
