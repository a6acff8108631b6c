#pragma once

#include <functional>
#include <string>

#include "base/result.h"
#include "sys/stop_signal.h"

namespace culprit::host {

// MachineLock is held by the one run that may use this machine, whoever's it is.
//
// It is a flock on a file that stays: /run/lock/culprit.lock, else the one in /tmp; CULPRIT_LOCK
// names another. Whoever inherits fd() holds it as well; the last to close it gives it up. What
// stands in the file says who holds it, for messages alone: anybody may write there.
class MachineLock {
 public:
  // Acquire tells waiting_for once who holds it, and waits. With wait false it fails instead, with
  // kEnvironment; with kInterrupted when the user stops the wait.
  // holder describes this run: "culprit ab … in runs/x".
  static base::Result<MachineLock> Acquire(
      const std::string& holder, bool wait, const sys::StopSignal& stop,
      const std::function<void(const std::string& holder)>& waiting_for = {});
  MachineLock(MachineLock&& other) noexcept;
  MachineLock& operator=(MachineLock&& other) noexcept;
  ~MachineLock();

  [[nodiscard]] int fd() const { return fd_; }

 private:
  explicit MachineLock(int fd) : fd_(fd) {}
  int fd_ = -1;
};

}  // namespace culprit::host
