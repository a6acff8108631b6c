#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/window.h"
#include "base/diagnostics.h"
#include "base/result.h"
#include "base/units.h"
#include "experiment/completion.h"
#include "trace/trace.h"

namespace culprit::analysis {

// WindowQuery is all that is known about the request to look for; the more, the surer.
struct WindowQuery {
  Phase phase = Phase::kDecode;
  std::optional<experiment::Completion> completion = {};  // the request as its client saw it
  std::vector<experiment::ServerTimings> logged = {};     // every request the server's log tells of
  std::size_t request = 0;                                // which of them, from 0
  // Offsets from the first dispatch of the trace, as given by the user.
  std::optional<std::pair<base::Nanos, base::Nanos>> given = {};
  std::optional<base::Tokens> tokens = {};  // overrides what the request says
  std::optional<std::int64_t> vocabulary = {};
  bool whole_trace = false;  // take everything when nothing else is known
  // The client's times do not hold the steps that the tokens imply: see MoveBackOntoSteps.
  bool tokens_came_late = false;
};

// Confidence in a window: two ways that agree, one way alone, or ways that contradict each other.
enum class Confidence { kConfirmed, kSingle, kContradicted };

// FoundWindow is the window with the story of how it was found, one sentence each.
struct FoundWindow {
  Window window;
  Confidence confidence = Confidence::kSingle;
  std::string how;
  std::vector<std::string> checks;           // what the other ways say
  std::optional<base::Steps> implied_steps;  // by the tokens and the server's draft counters
  std::optional<base::Tokens> prompt;        // of the request, cached ones included
  base::Diagnostics diagnostics;
};

// Speculates tells whether the server counted draft tokens of the request.
bool Speculates(const WindowQuery& query);

// FindWindow finds the stretch by, in this order: offsets given by the user; the client's times of
// the request, moved back onto the pattern of decode steps where tokens_came_late asks for it and
// they fit there; the server's timings laid behind the largest gap of the trace and moved onto that
// pattern. Each way that was not used but could be is compared with the one used.
//
// Fails with kNoWindow when nothing is known, when the request's times miss the trace, or when no
// stretch of the trace can be the request; with kDamagedTrace when they miss one that lacks
// records; with kUsage when request or offsets are out of range.
// Source: doc/how-it-works.md, "Windows".
base::Result<FoundWindow> FindWindow(const trace::Trace& trace, const WindowQuery& query);

}  // namespace culprit::analysis
