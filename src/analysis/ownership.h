#pragma once

#include <vector>

#include "analysis/window.h"
#include "base/units.h"
#include "trace/trace.h"

namespace culprit::analysis {

// Ownership says who owns each nanosecond of a window.
//
//          window.begin                                window.end
//               │                                           │
//   lane 1   ■■■│■■■ A ■■■■■■                               │
//               │    ░░ B ░░░░■■■■                          │    ░ waits for A: owns nothing yet
//   lane 2      │                ■■■■ C ■■■■■■■             │
//   owner       │A A A A A A A B B½C½ C C C C C ·  ·  ·  ·  │    · idle
//
// Inside a lane work is ordered, so the earliest-started dispatch that has not ended owns the
// time and later ones are waiting for it. Lanes that are busy at once share a nanosecond
// equally; what does not divide goes to the earliest-started. A nanosecond that no dispatch covers
// is idle.
//
// exclusive has one entry a dispatch of [window.first, window.last). The first law holds exactly:
// Σ exclusive + idle = window.end − window.begin, in integer nanoseconds.
struct Ownership {
  std::vector<base::Nanos> exclusive;
  base::Nanos idle{};
};

// Own computes the ownership of all devices together: nanoseconds are shared over every lane, and
// idle means that no device works, so the rows add up to what the clock shows.
Ownership Own(const trace::Trace& trace, const Window& window);

}  // namespace culprit::analysis
