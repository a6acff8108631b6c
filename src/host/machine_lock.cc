#include "host/machine_lock.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/printable.h"

namespace culprit::host {
namespace {

using base::ErrorCode;
using base::Fail;
using base::Result;

// The folder may be anybody's to write, like /tmp: a link there could lead to a file of ours, a
// pipe would hang us, and fs.protected_regular forbids O_CREAT on another user's file.
int OpenLock(const std::string& path) {
  constexpr int kFlags = O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  int fd = ::open(path.c_str(), kFlags);
  if (fd < 0 && errno == ENOENT) {
    fd = ::open(path.c_str(), kFlags | O_CREAT | O_EXCL, 0666);
    if (fd >= 0) ::fchmod(fd, 0666);  // other users need it too, whatever our umask
    if (fd < 0 && errno == EEXIST) fd = ::open(path.c_str(), kFlags);
  }
  struct stat info {};
  if (fd >= 0 && (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))) {
    ::close(fd);
    errno = EINVAL;
    return -1;
  }
  return fd;
}

Result<int> OpenAny() {
  const char* own = std::getenv("CULPRIT_LOCK");
  const bool named = own != nullptr && *own != '\0';
  const std::string first = named ? own : "/run/lock/culprit.lock";
  int fd = OpenLock(first);
  if (fd < 0 && !named) fd = OpenLock("/tmp/culprit.lock");
  if (fd >= 0) return fd;
  return Fail(ErrorCode::kEnvironment,
              fmt::format("the lock of this machine cannot be opened: {}", std::strerror(errno)),
              first);
}

void SayWhoHoldsIt(int fd, const std::string& holder) {
  const std::string text = fmt::format("process {}, {}, since {:%Y-%m-%d %H:%M:%S} UTC\n",
                                       ::getpid(), holder, fmt::gmtime(std::time(nullptr)));
  if (::ftruncate(fd, 0) != 0) return;
  [[maybe_unused]] const auto written = ::pwrite(fd, text.data(), text.size(), 0);
}

std::string WhoHoldsIt(int fd) {
  std::array<char, 512> buffer{};
  const ssize_t got = ::pread(fd, buffer.data(), buffer.size(), 0);
  std::string text(buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  text.resize(std::min(text.size(), text.find('\n')));
  return text.empty() ? "somebody who does not say who" : base::Printable(text);
}

}  // namespace

MachineLock::MachineLock(MachineLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

MachineLock& MachineLock::operator=(MachineLock&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

// Closed and not unlocked: that would take it from those who inherited it.
MachineLock::~MachineLock() {
  if (fd_ >= 0) ::close(fd_);
}

Result<MachineLock> MachineLock::Acquire(
    const std::string& holder, bool wait, const sys::StopSignal& stop,
    const std::function<void(const std::string& holder)>& waiting_for) {
  const auto opened = OpenAny();
  if (!opened) return Fail(opened.error());
  MachineLock lock(*opened);
  bool told = false;
  while (::flock(lock.fd_, LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return Fail(ErrorCode::kEnvironment, std::strerror(errno), "the lock of this machine");
    }
    if (!wait) {
      return Fail(ErrorCode::kEnvironment,
                  "this machine is in use by another run: " + WhoHoldsIt(lock.fd_));
    }
    if (!std::exchange(told, true) && waiting_for) waiting_for(WhoHoldsIt(lock.fd_));
    if (!stop.SleepFor(std::chrono::milliseconds(100))) return Fail(sys::Interrupted());
  }
  SayWhoHoldsIt(lock.fd_, holder);
  return lock;
}

}  // namespace culprit::host
