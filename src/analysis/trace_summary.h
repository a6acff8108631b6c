#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/units.h"
#include "trace/trace.h"

namespace culprit::analysis {

// TraceSummary is what a trace holds, for people: hostile text until printed.
struct TraceSummary {
  std::string path, format;
  base::NamedClock clock;
  std::int64_t dispatches;
  std::int64_t kernels;

  // A lane on which work ran. summed is Σ (end − start) of its dispatches.
  struct Lane {
    std::string device;
    std::optional<std::int64_t> queue, stream;
    std::int64_t dispatches = 0;
    base::Nanos summed{};
  };
  std::vector<Lane> lanes;
};
TraceSummary Summarise(const trace::Trace& trace);

}  // namespace culprit::analysis
