#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/units.h"
#include "collect/rocprofv3/log_marks.h"
#include "collect/rocprofv3/verdict.h"

namespace culprit::collect::rocprofv3 {

// How a traced server is brought to write its trace, and when it is killed: a state machine that
// looks at nothing and touches nothing. doc/collect-rocprofv3.md says why it is as it is.

// Phase is where the end of a trace has come to. The last three are for good.
enum class Phase {
  kReturned,     // the request has; nothing was done yet
  kAsked,        // one signal is out, and nothing says that it has begun to write
  kFlushing,     // it writes
  kVerifying,    // something says that it has written all; the file is being read
  kSafe,         // the trace is whole and on the disk
  kLost,         // it never will be
  kInterrupted,  // the user wants to stop
};

// Observation is what can be seen of the server and of its files at one moment.
//
// now and cpu count from any beginning that stays. bytes is everything in the trace's folders: the
// file, its journal, other processes' files, spill files.
struct Observation {
  base::Nanos now{};
  bool interrupted = false;
  bool alive = true;
  Marks marks;
  std::uint64_t bytes = 0;
  std::uint64_t file = 0;                // bytes of the server's own trace; 0: it is not there
  bool journal = false;                  // a journal or write-ahead log with content beside it
  std::optional<bool> open;              // a process has it open; absent when that cannot be seen
  std::optional<base::Nanos> cpu;        // that the server has used
  std::optional<std::uint64_t> written;  // bytes that it has written to any file
  bool catches_quit = false;             // it has a handler for SIGQUIT
  std::size_t children = 0;              // living processes that it started
  std::size_t others = 0;                // traces of other processes
  std::optional<Verdict> verdict;        // of the last Action::kVerify
};

// Limits are the deadlines: for how long nothing may happen. Progress starts each anew, so that a
// flush of any length is waited for.
struct Limits {
  base::Nanos sign = std::chrono::seconds(30);      // from a signal to the first sign of a flush
  base::Nanos children = std::chrono::seconds(10);  // of children that the tool waits for
  base::Nanos idle = std::chrono::minutes(5);       // of a flush that uses no CPU
  base::Nanos busy = std::chrono::minutes(20);      // of a flush that keeps a CPU busy
  base::Nanos failed = std::chrono::seconds(30);    // of a tool that could not write
  base::Nanos ended = std::chrono::seconds(10);     // of one that has written all, it says
  base::Nanos unseen = std::chrono::seconds(20);    // before a file counts that may be open
  base::Nanos between_looks = std::chrono::milliseconds(100);

  // Scaled multiplies the deadlines, for tests.
  [[nodiscard]] Limits Scaled(double factor) const;
};

// Action is what the owner of a State has to do next.
enum class Action {
  kWait,
  kTerminate,          // SIGTERM to the server alone; at most once
  kAskTool,            // SIGQUIT to the server alone, for the tool's handler; at most once
  kTerminateChildren,  // SIGTERM to the server's children, at most once
  kKillChildren,       // SIGKILL to them, at most once
  kVerify,             // read the file; the verdict belongs into the next Observation
  kKill,               // SIGKILL to the whole group. Only in kSafe, kLost, kInterrupted
};

// Evidence is why all is believed to be written.
enum class Evidence {
  kNone,
  kSaid,    // the tool said so on stderr
  kClosed,  // nobody has the file open any more
  kStill,   // who has it open cannot be seen, and nothing was written for long
  kLeft,    // the server has left
};

// Progress is what shows that something still happens.
struct Progress {
  Marks marks;
  std::uint64_t bytes = 0, file = 0;
  bool journal = false;
  std::optional<bool> open;
  bool operator==(const Progress&) const = default;
};

// State is all that is remembered between two observations.
struct State {
  bool clean = false;  // SIGTERM goes to the server's own stop, not to the tool's handler
  Phase phase = Phase::kReturned;
  base::Nanos asked{};               // when the signal went out
  base::Nanos progressed{};          // the last time that something happened
  base::Nanos cpu{};                 // used by then
  Progress progress;                 // as of then
  std::uint64_t written = 0;         // of all files, at the last look
  base::Nanos written_at{};          // when that last grew
  int closed_looks = 0;              // running, in which nobody had the file open
  std::optional<Progress> verified;  // what was there when the file was last read
  bool terminated = false, asked_tool = false;
  bool children_terminated = false, children_killed = false;
  Evidence evidence = Evidence::kNone;
  std::string why;  // of kLost, a sentence without its full stop
};

struct Step {
  State state;
  Action action;
};

// Next decides.
Step Next(State state, const Observation& seen, const Limits& limits);

}  // namespace culprit::collect::rocprofv3
