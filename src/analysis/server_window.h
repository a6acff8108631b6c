#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analysis/window.h"
#include "base/result.h"
#include "experiment/completion.h"
#include "trace/trace.h"

namespace culprit::analysis {

// ServerWindow is a window found from durations alone. gap_rank is 0 when the request follows the
// largest gap of the trace, 1 for the second largest, and so on.
struct ServerWindow {
  Window window;
  std::size_t gap_rank;
  std::string how;
};

// Turn says that the request is number nth, from 0, of `of` requests that durations cannot tell
// apart, in order of time.
struct Turn {
  std::size_t nth = 0, of = 1;
};

// LookAlike tells whether two requests fit the same place of a trace.
bool LookAlike(const experiment::ServerTimings& a, const experiment::ServerTimings& b);

// FindByServerTimings lays prompt_ms and predicted_ms behind a gap of the trace.
//
// The classic way takes the first dispatch after the largest gap for the start of the request,
// since a server sits idle between loading its model and the request. It is a few ms late, because
// the server's clock starts before it launches anything, and it is wrong altogether when the
// largest gap lies elsewhere. So each large gap is tried, largest first, and decode is moved onto
// the pattern of steps: it ends with a target pass and holds as many as the tokens imply. A place
// where that fails is not the request. Where no gap leads to a pattern, the largest gap that leaves
// room is taken as it is. Of several requests that look alike, each has its turn.
//
// Fails with kNoWindow when no place fits or the timings cover no decode.
base::Result<ServerWindow> FindByServerTimings(const trace::Trace& trace,
                                               const experiment::ServerTimings& timings,
                                               Phase phase, std::optional<std::int64_t> vocabulary,
                                               Turn turn);

}  // namespace culprit::analysis
