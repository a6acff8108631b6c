#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace culprit::collect::rocprofv3 {

// Pass is what the tool records in one run of a server: kernels with their times, or counters of
// each kernel. Never both: to count, it lets kernels run one by one, and their times are none.
struct Pass {
  std::vector<std::string> counters;  // empty: a trace of kernels

  [[nodiscard]] bool counts() const { return !counters.empty(); }
  // flag is the one that the tool must have for it.
  [[nodiscard]] const char* flag() const { return counts() ? "--pmc" : "--kernel-trace"; }
  // IsResult tells the files that hold what was recorded: "trace-4711_results.db",
  // "trace-4711_kernel_trace.csv"; "trace-4711_counter_collection.csv".
  [[nodiscard]] bool IsResult(std::string_view name) const {
    if (counts()) return name.ends_with("_counter_collection.csv");
    return name.ends_with("_results.db") || name.ends_with("_kernel_trace.csv");
  }
};

}  // namespace culprit::collect::rocprofv3
