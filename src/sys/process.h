#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "sys/environment.h"
#include "sys/process_stat.h"
#include "sys/stop_signal.h"

namespace culprit::sys {

// BootId names this boot of the machine: /proc/sys/kernel/random/boot_id.
std::string BootId();

// Exit says how a process ended: by its own exit code, or killed by a signal.
struct Exit {
  int code = 0;    // meaningless when signal is set
  int signal = 0;  // 0: it left by itself
  [[nodiscard]] bool ok() const { return code == 0 && signal == 0; }
  // Text is "exit 3" or "killed by signal 9".
  [[nodiscard]] std::string Text() const;
  bool operator==(const Exit&) const = default;
};

// ProcessOptions says what to start. No shell is ever involved.
struct ProcessOptions {
  std::vector<std::string> argv;  // argv[0] without a slash is looked up in PATH
  Environment environment = OwnEnvironment();
  std::string working_directory;  // "" is this process's
  std::string output_file;        // gets stdout and stderr, appended; "" drops them
  std::vector<int> kept_fds;      // stay open under their numbers; all others close
  // The kernel kills the process when the thread that started it ends, however it ends.
  bool dies_with_parent = true;
  // A session of its own: a terminal's Ctrl-C and hang-up do not reach it.
  bool own_session = false;
  // Called once the child exists and before its program runs, so that what must know of it (a
  // journal) knows of it first. The program never runs when this fails or this process dies.
  std::function<base::Status(const ProcessIdentity&)> before_exec = {};
};

// Process is a child that leads a process group of its own; signals go to the whole group.
//
// Owner: whoever started it. The destructor kills and reaps what is left of the group.
class Process {
 public:
  // Start returns once the program runs. Fails with kNotFound when it is not there, kEnvironment
  // when it cannot be executed; the message names argv[0].
  static base::Result<Process> Start(const ProcessOptions& options);
  Process(Process&& other) noexcept;
  Process& operator=(Process&& other) noexcept;
  ~Process();

  [[nodiscard]] const ProcessIdentity& identity() const { return identity_; }
  // Poll is absent while the process runs.
  std::optional<Exit> Poll();
  // WaitFor waits for the end, at most time. Absent when it still runs or stop was requested.
  std::optional<Exit> WaitFor(std::chrono::nanoseconds time, const StopSignal& stop);
  void Signal(int signal) const;
  // SignalLeader reaches this process alone, none of its children.
  void SignalLeader(int signal) const;
  // Stop ends the group: SIGTERM, grace, SIGKILL. Not cut short by anything. Returns how the
  // leader ended and whether it had to be killed.
  struct Stopped {
    Exit exit;
    bool killed;
  };
  Stopped Stop(std::chrono::nanoseconds grace);

 private:
  Process(ProcessIdentity identity, int pidfd) : identity_(identity), pidfd_(pidfd) {}
  void Look(int wait_options);

  ProcessIdentity identity_;
  int pidfd_ = -1;
  std::optional<Exit> exit_;
};

// CommandResult is what a short command said. out and err hold at most 1 MiB each.
struct CommandResult {
  Exit exit;
  std::string out, err;
  [[nodiscard]] bool ok() const { return exit.ok(); }
};

// RunCommand runs a short command to its end, without input. Fails like Process::Start, and with
// kTimeout when it takes longer than limit, or kInterrupted when the user wants to stop (it is
// killed then).
base::Result<CommandResult> RunCommand(const ProcessOptions& options,
                                       std::chrono::nanoseconds limit,
                                       const StopSignal& stop = StopSignal());

}  // namespace culprit::sys
