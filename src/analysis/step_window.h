#pragma once

#include <cstddef>
#include <optional>

#include "analysis/passes.h"
#include "analysis/window.h"
#include "base/units.h"
#include "trace/trace.h"

namespace culprit::analysis {

// Slack is how far the ends of a request may lie from where durations put them, and how late its
// tokens may reach a client: a twentieth of decode, or 20 ms.
base::Nanos Slack(base::Nanos decode);

// MoveOntoSteps moves a decode window that was laid by durations so that it ends with a target
// pass and holds exactly that many steps, in about the time that it had. Nothing when no pattern
// is seen in the neighbourhood; a window with begin == end when there is one that does not fit.
std::optional<Window> MoveOntoSteps(const trace::Trace& trace, const Window& laid,
                                    base::Steps steps, const PassHints& hints);

// MoveBackOntoSteps takes a decode window from the first token's arrival to the last one's, and
// returns the one from the end of the pass that made the first token to the end of the pass that
// made the last. Tokens arrive after they are made, on a busy machine by more than a step. Nothing
// when the last pass before the last arrival and the one `steps` passes earlier do not lie before
// the two arrivals by at most Slack.
struct MovedBack {
  Window window;
  std::size_t steps_before_first = 0;  // those that had ended when the first token came
};
std::optional<MovedBack> MoveBackOntoSteps(const trace::Trace& trace, const Window& arrivals,
                                           base::Steps steps, const PassHints& hints);

}  // namespace culprit::analysis
