#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace culprit::inject {

std::int64_t NowNs();  // CLOCK_BOOTTIME

// OpsFile is the file of this process: a header, then what Write is given, then an end.
//
// It is made by the first Write, so that helpers of a server which compute nothing leave none. What
// cannot be written whole is overwritten by the next: a full disk makes holes that are counted, and
// never a file that cannot be read. A child that fork made writes nothing.
class OpsFile {
 public:
  // folder must outlive this. Until Open nothing is written.
  void Open(const char* folder) { folder_ = folder; }
  [[nodiscard]] bool open() const { return folder_ != nullptr; }

  // Write appends at once or not at all, and returns which. Any thread may call it.
  bool Write(const void* bytes, std::size_t size);

  // Lock keeps others from writing until it is given back; false when it cannot be had soon, as in
  // a signal that came in the middle of a write. Write is called without it, Append with it.
  bool Lock(bool wait);
  void Unlock() { holder_.store(0, std::memory_order_release); }
  bool Append(const void* bytes, std::size_t size);
  // Close is called with the lock held; later writes do nothing.
  void Close() { closed_ = true; }

 private:
  bool Create();
  bool WriteAt(const void* bytes, std::size_t size, std::int64_t at) const;

  const char* folder_ = nullptr;
  std::atomic<int> holder_{0};  // thread that writes, 0: none
  int fd_ = -1;
  int pid_ = 0;
  std::int64_t end_ = 0;
  bool closed_ = false;
};

}  // namespace culprit::inject
