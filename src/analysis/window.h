#pragma once

#include <cstddef>
#include <optional>

#include "base/units.h"
#include "trace/trace.h"

namespace culprit::analysis {

enum class Phase { kDecode, kPrefill };

// How a window was found, surest first.
enum class WindowMethod { kClientTimes, kServerTimings, kGiven, kLengthDifference, kWholeTrace };

// Window is the stretch of a Trace in which the server worked on one phase of one request.
//
// begin and end are TraceTime, half open, end > begin. [first, last) holds every dispatch that
// touches it, and possibly some that end before begin. tokens is what costs are divided by: in
// decode the tokens after the first, in prefill those of the prompt; absent when nobody said.
struct Window {
  base::TraceTime begin = {}, end = {};
  Phase phase = Phase::kDecode;
  WindowMethod method = WindowMethod::kWholeTrace;
  std::optional<base::Tokens> tokens = {};
  std::size_t first = 0, last = 0;

  [[nodiscard]] base::Nanos length() const { return end - begin; }
};

// SetDispatchRange fills window.first and window.last from its begin and end.
void SetDispatchRange(const trace::Trace& trace, Window& window);

}  // namespace culprit::analysis
