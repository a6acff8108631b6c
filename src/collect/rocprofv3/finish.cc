#include "collect/rocprofv3/finish.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/number_format.h"

namespace culprit::collect::rocprofv3 {
namespace {

using base::Nanos;

Progress ProgressOf(const Observation& seen) {
  return {seen.marks, seen.bytes, seen.file, seen.journal, seen.open};
}

// IsOpen tells whether the file is being written for certain.
bool IsOpen(const Observation& seen) { return seen.journal || seen.open == true; }

// Remember brings the state's memory of what happens up to date.
void Remember(State& state, const Observation& seen) {
  if (const Progress now = ProgressOf(seen); now != state.progress) {
    state.progress = now;
    state.progressed = seen.now;
    state.cpu = seen.cpu.value_or(Nanos::zero());
  }
  if (seen.written.value_or(0) != state.written) {
    state.written = seen.written.value_or(0);
    state.written_at = seen.now;
  }
  const bool closed = seen.file > 0 && seen.open == false && !seen.journal;
  state.closed_looks = closed ? state.closed_looks + 1 : 0;
}

// A tenth of a CPU: who spins gets that much of a machine that is busy with other things as well.
// What cannot be seen counts as busy, which is waited for longer.
bool IsBusy(const State& state, const Observation& seen) {
  if (!seen.cpu) return true;
  return 10 * (*seen.cpu - state.cpu) > seen.now - state.progressed;
}

std::string SilenceOf(const State& state, const Observation& seen) {
  return base::Seconds(seen.now - state.progressed) +
         (IsBusy(state, seen) ? ", busy with something else" : ", using no CPU");
}

Step Wait(State state) { return {std::move(state), Action::kWait}; }

Step Lose(State state, std::string why) {
  state.phase = Phase::kLost;
  state.why = std::move(why);
  return {std::move(state), Action::kKill};
}

Step Verify(State state, Evidence evidence) {
  state.phase = Phase::kVerifying;
  state.verified = state.progress;
  state.evidence = evidence;
  return {std::move(state), Action::kVerify};
}

Step OnceReturned(State state, const Observation& seen) {
  state.phase = Phase::kAsked;
  // A server that already writes, because it failed or somebody else stopped it, needs no signal.
  if (seen.marks.handler || seen.marks.finalizing || seen.file > 0) return Wait(std::move(state));
  state.terminated = true;
  state.progressed = seen.now;
  return {std::move(state), Action::kTerminate};
}

bool WaitsForChildren(const State& state, const Observation& seen) {
  return seen.marks.children && seen.children > 0 && !state.children_killed;
}

// The tool waits for children without end, and nothing is lost of the server by ending them.
Step WhileChildrenLive(State state, const Observation& seen, const Limits& limits) {
  if (seen.now - state.progressed < limits.children) return Wait(std::move(state));
  state.progressed = seen.now;
  state.cpu = seen.cpu.value_or(Nanos::zero());
  if (!state.children_terminated) {
    state.children_terminated = true;
    return {std::move(state), Action::kTerminateChildren};
  }
  state.children_killed = true;
  return {std::move(state), Action::kKillChildren};
}

Step WhileAsked(State state, const Observation& seen, const Limits& limits) {
  if (seen.marks.handler || seen.marks.flushes() || seen.file > 0) {
    state.phase = Phase::kFlushing;
    return Wait(std::move(state));
  }
  const Nanos limit = IsBusy(state, seen) ? limits.idle : limits.sign;
  if (seen.now - state.progressed < limit) return Wait(std::move(state));
  // A handler that is entered twice deadlocks, so never where SIGTERM may have gone to it.
  if (state.clean && !state.asked_tool && seen.catches_quit) {
    state.asked_tool = true;
    state.progressed = seen.now;
    state.cpu = seen.cpu.value_or(Nanos::zero());
    return {std::move(state), Action::kAskTool};
  }
  std::string why =
      "the server was asked to stop, and began to write nothing for " + SilenceOf(state, seen);
  return Lose(std::move(state), std::move(why));
}

Evidence EvidenceOf(const State& state, const Observation& seen, const Limits& limits) {
  // Whatever was said, or seems to stand still.
  if (IsOpen(seen)) return Evidence::kNone;
  if (seen.marks.done) return Evidence::kSaid;
  // One look may fall between two files, or between a file and its journal.
  if (state.closed_looks >= 2) return Evidence::kClosed;
  const Nanos still = seen.now - std::max(state.progressed, state.written_at);
  const bool quiet = seen.file > 0 && !seen.open && still >= limits.unseen;
  return quiet ? Evidence::kStill : Evidence::kNone;
}

Nanos SilenceLimit(const State& state, const Observation& seen, const Limits& limits) {
  if (seen.marks.failed) return limits.failed;
  // Where others write traces as well, the word may be theirs.
  if (seen.marks.done && !IsOpen(seen) && seen.others == 0) return limits.ended;
  // A closed file is all there will be, unless it is opened once more.
  return IsBusy(state, seen) && state.closed_looks == 0 ? limits.busy : limits.idle;
}

std::string WhyLost(const State& state, const Observation& seen) {
  const std::string_view verdict = seen.verdict ? std::string_view(seen.verdict->why) : "";
  std::string why;
  if (seen.marks.failed) {
    why = "the tool could not write it (" + seen.marks.failure + ")";
  } else if (seen.marks.done) {
    why = "the tool said that it has written everything";
  } else {
    why = "the tool wrote nothing for " + SilenceOf(state, seen);
  }
  if (!verdict.empty()) why += ", but " + std::string(verdict);
  return why;
}

Step WhileFlushing(State state, const Observation& seen, const Limits& limits) {
  if (WaitsForChildren(state, seen)) return WhileChildrenLive(std::move(state), seen, limits);
  const Evidence evidence = EvidenceOf(state, seen, limits);
  if (evidence != Evidence::kNone && state.verified != state.progress) {
    return Verify(std::move(state), evidence);
  }
  if (seen.now - state.progressed < SilenceLimit(state, seen, limits)) {
    return Wait(std::move(state));
  }
  std::string why = WhyLost(state, seen);
  return Lose(std::move(state), std::move(why));
}

Step OnceVerified(State state, const Observation& seen) {
  // It may have been opened once more while it was read.
  const bool same = state.verified && state.verified->file == seen.file && !IsOpen(seen);
  if (same && seen.verdict && seen.verdict->complete()) {
    state.phase = Phase::kSafe;
    return {std::move(state), Action::kKill};
  }
  state.phase = Phase::kFlushing;
  return Wait(std::move(state));
}

// OnceLeft is about a server that has left: there is nothing to wait for.
Step OnceLeft(State state, const Observation& seen) {
  // What was read while it lived may have changed since.
  if (state.evidence != Evidence::kLeft) return Verify(std::move(state), Evidence::kLeft);
  if (seen.verdict && seen.verdict->complete()) {
    state.phase = Phase::kSafe;
    return {std::move(state), Action::kKill};
  }
  std::string why = "the server left";
  if (seen.marks.failed) why += " because the tool could not write (" + seen.marks.failure + ")";
  if (seen.verdict) why += ", and " + seen.verdict->why;
  return Lose(std::move(state), std::move(why));
}

}  // namespace

Limits Limits::Scaled(double factor) const {
  const auto scaled = [factor](Nanos time) {
    return std::chrono::duration_cast<Nanos>(base::NanosF(time) * factor);
  };
  Limits limits = *this;
  for (Nanos* time : {&limits.sign, &limits.children, &limits.idle, &limits.busy, &limits.failed,
                      &limits.ended, &limits.unseen}) {
    *time = scaled(*time);
  }
  return limits;
}

Step Next(State state, const Observation& seen, const Limits& limits) {
  if (state.phase == Phase::kReturned) state.asked = seen.now;
  Remember(state, seen);
  switch (state.phase) {
    case Phase::kSafe:
    case Phase::kLost:
    case Phase::kInterrupted:
      return {std::move(state), Action::kKill};
    default:
      break;
  }
  if (seen.interrupted) {
    state.phase = Phase::kInterrupted;
    return {std::move(state), Action::kKill};
  }
  if (!seen.alive) return OnceLeft(std::move(state), seen);
  switch (state.phase) {
    case Phase::kReturned:
      return OnceReturned(std::move(state), seen);
    case Phase::kAsked:
      return WhileAsked(std::move(state), seen, limits);
    case Phase::kVerifying:
      return OnceVerified(std::move(state), seen);
    default:
      return WhileFlushing(std::move(state), seen, limits);
  }
}

}  // namespace culprit::collect::rocprofv3
