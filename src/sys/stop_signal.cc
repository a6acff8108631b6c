#include "sys/stop_signal.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>

#include "base/check.h"

namespace culprit::sys {

struct StopSignal::State {
  State() : fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) { CULPRIT_CHECK(fd >= 0); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { ::close(fd); }

  const int fd;
  std::atomic<bool> requested = false;
  std::atomic<int> signal = 0;
};

StopSignal::StopSignal() : state_(std::make_shared<State>()) {}

void StopSignal::Request(int signal) const {
  if (state_->requested.exchange(true)) return;
  state_->signal = signal;
  const int saved = errno;  // a signal handler leaves errno as it was
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(state_->fd, &one, sizeof(one));
  errno = saved;
}

bool StopSignal::requested() const { return state_->requested; }
int StopSignal::signal() const { return state_->signal; }
int StopSignal::fd() const { return state_->fd; }

bool StopSignal::SleepFor(std::chrono::nanoseconds time) const {
  const auto end = std::chrono::steady_clock::now() + time;
  while (!requested()) {
    const auto left = end - std::chrono::steady_clock::now();
    if (left <= std::chrono::nanoseconds::zero()) return true;
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
    pollfd poll{state_->fd, POLLIN, 0};
    ::poll(&poll, 1, static_cast<int>(std::min<std::int64_t>(ms, 60'000)));
  }
  return false;
}

namespace {

// The one that the signal handler asks: a handler can reach nothing but globals.
const StopSignal& ProcessStop() {
  static const StopSignal stop;
  return stop;
}

void Handle(int signal) { ProcessStop().Request(signal); }

}  // namespace

StopSignal StopOnSignals() {
  const StopSignal& stop = ProcessStop();  // made before a handler may need it
  struct sigaction action {};
  action.sa_handler = Handle;
  action.sa_flags = SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(signal, &action, nullptr);
  action.sa_handler = SIG_IGN;
  for (const int signal : {SIGPIPE, SIGXFSZ}) ::sigaction(signal, &action, nullptr);
  return stop;
}

base::Error Interrupted() { return {base::ErrorCode::kInterrupted, "interrupted"}; }

}  // namespace culprit::sys
