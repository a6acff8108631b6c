#pragma once

#include <atomic>
#include <chrono>
#include <memory>

#include "base/result.h"

namespace culprit::sys {

// StopSignal says that the user wants to stop. Everything that waits takes one and comes back
// early; nothing in the program sleeps without it.
//
// Request may be called from a signal handler and from any thread, and holds for good. fd becomes
// readable with it, for poll. Copies mean the same signal.
class StopSignal {
 public:
  StopSignal();

  void Request(int signal = 0) const;
  [[nodiscard]] bool requested() const;
  // signal is the number of the first signal that asked, 0 when the program itself did.
  [[nodiscard]] int signal() const;
  [[nodiscard]] int fd() const;
  // SleepFor returns false when it was cut short.
  [[nodiscard]] bool SleepFor(std::chrono::nanoseconds time) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// StopOnSignals makes SIGINT, SIGTERM and SIGHUP request the returned stop, for the whole process
// and until it ends. A second signal changes nothing: putting the machine back is not abandoned.
// SIGPIPE and SIGXFSZ are ignored from then on: what cannot be written is an error.
StopSignal StopOnSignals();

// Interrupted is the error of what was stopped by the user.
base::Error Interrupted();

}  // namespace culprit::sys
