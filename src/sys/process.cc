#include "sys/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/check.h"
#include "sys/open_file.h"
#include "sys/text_file.h"

namespace culprit::sys {
namespace {

using base::ErrorCode;
using base::Fail;
using base::Result;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;

struct Pipe {
  Fd read, write;
};

std::optional<Pipe> MakePipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

std::vector<char*> Pointers(const std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  pointers.reserve(strings.size() + 1);
  for (const std::string& string : strings) pointers.push_back(const_cast<char*>(string.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// What the child needs, made before the fork: between fork and exec only system calls are allowed,
// because another thread may have held the allocator's lock.
struct Launch {
  std::vector<char*> argv, envp;
  std::string program;
  const char* directory;
  const std::vector<int>& kept;
  int in, out, err;
  bool dies_with_parent, own_session;
  pid_t parent;
  int report;
  const Pipe* permission;  // where the child waits for before_exec; may be null
};

[[noreturn]] void Report(int fd, int error) {
  [[maybe_unused]] const auto written = ::write(fd, &error, sizeof(error));
  ::_exit(127);
}

// WaitForPermission says that the child is there and comes back with the parent's byte.
void WaitForPermission(const Pipe& permission, int report) {
  const int ready = 0;
  [[maybe_unused]] const auto written = ::write(report, &ready, sizeof(ready));
  ::close(permission.write.get());  // or its own end would keep the pipe open
  char byte = 0;
  if (::read(permission.read.get(), &byte, 1) != 1) ::_exit(127);
}

[[noreturn]] void RunChild(const Launch& launch) {
  if (launch.own_session) {
    ::setsid();
  } else {
    ::setpgid(0, 0);
  }
  if (launch.dies_with_parent) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != launch.parent) ::_exit(127);  // it was dead before we asked
  }
  // SIGXFSZ stays ignored: a file that may not grow is an error to children as well.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (launch.permission != nullptr) WaitForPermission(*launch.permission, launch.report);
  if (::dup2(launch.in, STDIN_FILENO) < 0 || ::dup2(launch.out, STDOUT_FILENO) < 0 ||
      ::dup2(launch.err, STDERR_FILENO) < 0) {
    Report(launch.report, errno);
  }
  ::close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  for (const int fd : launch.kept) ::fcntl(fd, F_SETFD, 0);
  if (*launch.directory != '\0' && ::chdir(launch.directory) != 0) Report(launch.report, errno);
  ::execve(launch.program.c_str(), launch.argv.data(), launch.envp.data());
  Report(launch.report, errno);
}

Result<Fd> OpenNull(int flags) {
  constexpr const char* kNull = "/dev/null";
  Fd fd(::open(kNull, flags | O_CLOEXEC));
  if (fd.get() < 0) return Fail(ErrorCode::kUnreadable, std::strerror(errno), kNull);
  return fd;
}

int PollMillis(nanoseconds left) {
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  return static_cast<int>(std::clamp<std::int64_t>(ms, 0, 60'000));
}

struct Streams {
  int in, out, err;
};

struct Started {
  ProcessIdentity identity;
  Fd pidfd;
};

// ReadReport is absent when the child closed its end: its program runs, or it died.
std::optional<int> ReadReport(int fd) {
  int value = 0;
  ssize_t got = 0;
  do {
    got = ::read(fd, &value, sizeof(value));
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof(value))) return std::nullopt;
  return value;
}

// Permit asks before_exec and lets the child run its program; otherwise the child leaves.
base::Status Permit(const ProcessOptions& options, pid_t pid, Pipe& permission) {
  const auto identity = Identify(pid);
  if (!identity) return Fail(ErrorCode::kEnvironment, "died before it ran", options.argv[0]);
  auto permitted = options.before_exec(*identity);
  if (permitted) [[maybe_unused]]
    const auto written = ::write(permission.write.get(), "", 1);
  permission.write.Close();
  return permitted;
}

Result<Started> Spawn(const ProcessOptions& options, Streams streams) {
  CULPRIT_CHECK(!options.argv.empty());
  auto report = MakePipe();
  auto permission = options.before_exec ? MakePipe() : std::nullopt;
  if (!report || (options.before_exec && !permission))
    return Fail(ErrorCode::kEnvironment, std::strerror(errno), "pipe");
  // A path is left to the kernel: it says what is wrong, and it may be one in the child's folder.
  const std::string& name = options.argv[0];
  const bool is_path = name.find('/') != std::string::npos;
  const Launch launch{
      .argv = Pointers(options.argv),
      .envp = Pointers(options.environment),
      .program = is_path ? name : FindProgram(name, options.environment).value_or(""),
      .directory = options.working_directory.c_str(),
      .kept = options.kept_fds,
      .in = streams.in,
      .out = streams.out,
      .err = streams.err,
      .dies_with_parent = options.dies_with_parent,
      .own_session = options.own_session,
      .parent = ::getpid(),
      .report = report->write.get(),
      .permission = permission ? &*permission : nullptr};
  const pid_t pid = ::fork();
  if (pid < 0) return Fail(ErrorCode::kEnvironment, std::strerror(errno), "fork");
  if (pid == 0) RunChild(launch);
  // Both sides set the group, so that it exists whichever runs first.
  if (!options.own_session) ::setpgid(pid, pid);
  report->write.Close();
  auto error = ReadReport(report->read.get());
  if (permission && error == 0) {
    if (auto permitted = Permit(options, pid, *permission); !permitted) {
      ::waitpid(pid, nullptr, 0);
      return Fail(std::move(permitted.error()));
    }
    error = ReadReport(report->read.get());
  }
  if (error) {
    ::waitpid(pid, nullptr, 0);
    const auto code = *error == ENOENT ? ErrorCode::kNotFound : ErrorCode::kEnvironment;
    return Fail(code, fmt::format("cannot be started: {}", std::strerror(*error)), options.argv[0]);
  }
  // The child is ours and not yet reaped, so its pid cannot be anybody else's.
  Fd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  const auto identity = Identify(pid).value_or(ProcessIdentity{pid, 0});
  return Started{identity, std::move(pidfd)};
}

}  // namespace

std::string BootId() {
  const std::string text = ReadText("/proc/sys/kernel/random/boot_id").value_or("");
  return text.substr(0, text.find('\n'));
}

std::string Exit::Text() const {
  return signal != 0 ? fmt::format("killed by signal {}", signal) : fmt::format("exit {}", code);
}

Result<Process> Process::Start(const ProcessOptions& options) {
  auto in = OpenNull(O_RDONLY);
  if (!in) return Fail(std::move(in.error()));
  auto out = options.output_file.empty()
                 ? OpenNull(O_WRONLY)
                 : OpenFile(options.output_file, O_WRONLY | O_CREAT | O_APPEND);
  if (!out) return Fail(std::move(out.error()));
  auto started = Spawn(options, {in->get(), out->get(), out->get()});
  if (!started) return Fail(std::move(started.error()));
  const int pidfd = ::fcntl(started->pidfd.get(), F_DUPFD_CLOEXEC, 0);
  return Process(started->identity, pidfd);
}

Process::Process(Process&& other) noexcept
    : identity_(std::exchange(other.identity_, {})),
      pidfd_(std::exchange(other.pidfd_, -1)),
      exit_(std::exchange(other.exit_, std::nullopt)) {}

Process& Process::operator=(Process&& other) noexcept {
  std::swap(identity_, other.identity_);
  std::swap(pidfd_, other.pidfd_);
  std::swap(exit_, other.exit_);
  return *this;
}

Process::~Process() {
  if (identity_.pid == 0) return;
  Signal(SIGKILL);
  while (::waitpid(identity_.pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (pidfd_ >= 0) ::close(pidfd_);
}

// The end is only looked at: as long as the leader is not reaped nobody else gets its pid, so that
// signals to its group cannot reach a stranger.
void Process::Look(int wait_options) {
  if (exit_) return;
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(identity_.pid), &info,
                  WEXITED | WNOWAIT | wait_options) < 0 &&
         errno == EINTR) {
  }
  if (info.si_pid == 0) return;
  exit_ =
      info.si_code == CLD_EXITED ? Exit{.code = info.si_status} : Exit{.signal = info.si_status};
}

std::optional<Exit> Process::Poll() {
  Look(WNOHANG);
  return exit_;
}

std::optional<Exit> Process::WaitFor(nanoseconds time, const StopSignal& stop) {
  const auto end = steady_clock::now() + time;
  while (!Poll() && !stop.requested()) {
    const auto left = end - steady_clock::now();
    if (left <= nanoseconds::zero()) break;
    std::array<pollfd, 2> fds{{{pidfd_, POLLIN, 0}, {stop.fd(), POLLIN, 0}}};
    // Without a pidfd (an old kernel) its end is looked for ten times a second.
    const auto wait =
        pidfd_ >= 0 ? left : std::min<nanoseconds>(left, std::chrono::milliseconds(100));
    ::poll(fds.data(), fds.size(), PollMillis(wait));
  }
  return Poll();
}

void Process::Signal(int signal) const {
  if (identity_.pid > 0) ::kill(-identity_.pid, signal);
}

void Process::SignalLeader(int signal) const {
  if (identity_.pid > 0) ::kill(identity_.pid, signal);
}

Process::Stopped Process::Stop(nanoseconds grace) {
  const StopSignal never;
  Signal(SIGTERM);
  const bool left = WaitFor(grace, never).has_value();
  Signal(SIGKILL);  // also what children the leader left behind
  Look(0);
  return {*exit_, !left};
}

namespace {

constexpr std::size_t kOutputLimit = 1 << 20;

// Drain takes what is there now; false at the end of the stream.
bool Drain(int fd, std::string& text) {
  std::array<char, 4096> buffer{};
  const ssize_t got = ::read(fd, buffer.data(), buffer.size());
  if (got < 0) return errno == EINTR || errno == EAGAIN;
  const auto room = kOutputLimit - std::min(kOutputLimit, text.size());
  text.append(buffer.data(), std::min(room, static_cast<std::size_t>(got)));
  return got > 0;
}

}  // namespace

Result<CommandResult> RunCommand(const ProcessOptions& options, nanoseconds limit,
                                 const StopSignal& stop) {
  auto in = OpenNull(O_RDONLY);
  if (!in) return Fail(std::move(in.error()));
  auto out = MakePipe(), err = MakePipe();
  if (!out || !err) return Fail(ErrorCode::kEnvironment, std::strerror(errno), "pipe");
  auto started = Spawn(options, {in->get(), out->write.get(), err->write.get()});
  if (!started) return Fail(std::move(started.error()));
  out->write.Close();
  err->write.Close();

  const pid_t pid = started->identity.pid;
  const auto end = steady_clock::now() + limit;
  CommandResult result;
  bool out_open = true, err_open = true, late = false;
  // The signal that asks to stop interrupts a wait; one that comes just before it is seen soon.
  constexpr nanoseconds kBetweenLooks = std::chrono::milliseconds(100);
  const auto wait = [&] { return PollMillis(std::min(end - steady_clock::now(), kBetweenLooks)); };
  while (out_open || err_open) {
    late = steady_clock::now() >= end || stop.requested();
    if (late) break;
    std::array<pollfd, 2> fds{{{out_open ? out->read.get() : -1, POLLIN, 0},
                               {err_open ? err->read.get() : -1, POLLIN, 0}}};
    if (::poll(fds.data(), fds.size(), wait()) <= 0) continue;
    if (fds[0].revents != 0) out_open = Drain(out->read.get(), result.out);
    if (fds[1].revents != 0) err_open = Drain(err->read.get(), result.err);
  }
  // Both ends closed: it has left, or is about to.
  pollfd gone{started->pidfd.get(), POLLIN, 0};
  while (!late && ::poll(&gone, 1, wait()) <= 0)
    late = steady_clock::now() >= end || stop.requested();
  if (late) ::kill(-pid, SIGKILL);
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (late && stop.requested()) return Fail(Interrupted());
  if (late) {
    return Fail(ErrorCode::kTimeout,
                fmt::format("did not end within {} s",
                            std::chrono::duration_cast<std::chrono::seconds>(limit).count()),
                options.argv[0]);
  }
  result.exit =
      WIFSIGNALED(status) ? Exit{.signal = WTERMSIG(status)} : Exit{.code = WEXITSTATUS(status)};
  return result;
}

}  // namespace culprit::sys
