#include "inject/ggml/ops_file.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "inject/wire/ggml_ops.h"

namespace culprit::inject {
namespace {

// A trace of a day; a server that somebody forgot must not fill the disk.
constexpr std::int64_t kMostBytes = std::int64_t{8} << 30;

}  // namespace

std::int64_t NowNs() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

bool OpsFile::Lock(bool wait) {
  constexpr int kPatience = 100'000;
  const int self = static_cast<int>(::syscall(SYS_gettid));
  for (int tries = 0; wait || tries < kPatience; ++tries) {
    int nobody = 0;
    if (holder_.compare_exchange_strong(nobody, self, std::memory_order_acquire)) return true;
    if (nobody == self) return false;
    ::sched_yield();
  }
  return false;
}

bool OpsFile::Write(const void* bytes, std::size_t size) {
  if (!Lock(true)) return false;
  const bool written = Append(bytes, size);
  Unlock();
  return written;
}

bool OpsFile::Append(const void* bytes, std::size_t size) {
  if (closed_ || folder_ == nullptr || (fd_ < 0 && !Create()) || pid_ != ::getpid()) return false;
  if (end_ + static_cast<std::int64_t>(size) > kMostBytes) return false;
  if (!WriteAt(bytes, size, end_)) return false;
  end_ += static_cast<std::int64_t>(size);
  return true;
}

bool OpsFile::Create() {
  pid_ = ::getpid();
  char path[4096];
  const int length = std::snprintf(path, sizeof path, "%s/%d" CULPRIT_OPS_ENDING, folder_, pid_);
  if (length < 0 || static_cast<std::size_t>(length) >= sizeof path) return false;
  fd_ = ::open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd_ < 0) {
    closed_ = true;
    return false;
  }
  culprit_ops_header header{};
  std::memcpy(header.magic, CULPRIT_OPS_MAGIC, sizeof header.magic);
  header.version = CULPRIT_OPS_VERSION;
  header.header_bytes = sizeof header;
  header.clock = CLOCK_BOOTTIME;
  header.pid = static_cast<std::uint32_t>(pid_);
  header.opened_ns = NowNs();
  end_ = sizeof header;
  return WriteAt(&header, sizeof header, 0);
}

bool OpsFile::WriteAt(const void* bytes, std::size_t size, std::int64_t at) const {
  const char* from = static_cast<const char*>(bytes);
  while (size > 0) {
    const ssize_t written = ::pwrite(fd_, from, size, at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    from += written;
    at += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

}  // namespace culprit::inject
