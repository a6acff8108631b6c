#include "host/guardian.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "sys/stop_signal.h"

namespace culprit::host {
namespace {

using base::ErrorCode;
using base::Fail;
using base::Result;

// The guardian's only words, and ours: one byte each.
constexpr char kReady = 'r';
constexpr char kDismissed = 'd';

bool Send(int fd, char word) { return ::send(fd, &word, 1, MSG_NOSIGNAL) == 1; }

// Hear returns 0 when the other end is gone, or silent for too long.
char Hear(int fd, int limit_ms) {
  pollfd readable{fd, POLLIN, 0};
  int ready = 0;
  do {
    ready = ::poll(&readable, 1, limit_ms);
  } while (ready < 0 && errno == EINTR);
  char word = 0;
  return ready > 0 && ::recv(fd, &word, 1, 0) == 1 ? word : '\0';
}

}  // namespace

Result<Guardian> Guardian::Start(const std::string& state_folder, int lock_fd) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return Fail(ErrorCode::kEnvironment, std::strerror(errno), "socketpair");
  }
  auto process = sys::Process::Start({.argv = {"/proc/self/exe", "guardian", "--pipe",
                                               std::to_string(ends[1]), "--state", state_folder},
                                      .output_file = state_folder + "/guardian.log",
                                      .kept_fds = {ends[1], lock_fd},
                                      .dies_with_parent = false,
                                      .own_session = true});
  ::close(ends[1]);
  if (!process) {
    ::close(ends[0]);
    return Fail(std::move(process.error()).In("the guardian"));
  }
  Guardian guardian(*std::move(process), ends[0]);
  if (Hear(ends[0], 10'000) == kReady) return guardian;
  return Fail(ErrorCode::kEnvironment, "does not watch", "the guardian",
              "see " + state_folder + "/guardian.log");
}

Guardian::Guardian(Guardian&& other) noexcept
    : process_(std::move(other.process_)), pipe_(std::exchange(other.pipe_, -1)) {}

Guardian& Guardian::operator=(Guardian&& other) noexcept {
  std::swap(process_, other.process_);
  std::swap(pipe_, other.pipe_);
  return *this;
}

// ~Process kills it. Whoever owns a guardian puts the machine back before letting it go.
Guardian::~Guardian() {
  if (pipe_ >= 0) ::close(pipe_);
}

void Guardian::Dismiss() {
  Send(pipe_, kDismissed);
  static_cast<void>(process_.WaitFor(std::chrono::seconds(10), sys::StopSignal()));
}

Result<std::optional<RestoreReport>> Guard(int pipe, const std::string& state_folder,
                                           const RestoreOptions& options, AtStep at_step) {
  static_cast<void>(sys::StopOnSignals());  // and does not look at the signal: it stays
  Send(pipe, kReady);
  if (Hear(pipe, -1) == kDismissed) return std::nullopt;
  auto journal = Journal::OpenUnfinished(state_folder, std::move(at_step));
  if (!journal) return Fail(std::move(journal.error()));
  if (!*journal) return std::nullopt;
  return Restore(**journal, options);
}

}  // namespace culprit::host
