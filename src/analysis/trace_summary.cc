#include "analysis/trace_summary.h"

namespace culprit::analysis {

TraceSummary Summarise(const trace::Trace& trace) {
  TraceSummary summary{trace.path,
                       trace.format,
                       trace.clock,
                       static_cast<std::int64_t>(trace.size()),
                       static_cast<std::int64_t>(trace.kernels.size()),
                       {}};
  for (const trace::Lane& lane : trace.lanes) {
    summary.lanes.push_back({.device = trace.devices[lane.device.index()].name,
                             .queue = lane.queue,
                             .stream = lane.stream});
  }
  for (std::size_t i = 0; i < trace.size(); ++i) {
    auto& lane = summary.lanes[trace.lane[i].index()];
    ++lane.dispatches;
    lane.summed += trace.end[i] - trace.start[i];
  }
  std::erase_if(summary.lanes, [](const auto& lane) { return lane.dispatches == 0; });
  return summary;
}

}  // namespace culprit::analysis
