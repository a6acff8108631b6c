#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "collect/rocprofv3/pass.h"

namespace culprit::collect::rocprofv3 {

// Files is what lies in the folders that the tool writes into. A trace is what the pass is about,
// counters as well.
struct Files {
  std::string trace;                // of the server's process; "" when there is none yet
  std::vector<std::string> others;  // traces of other processes
  std::uint64_t trace_bytes = 0;
  std::uint64_t bytes = 0;  // of everything
};

// kOutputName is what -o gets: "trace-4711_results.db", "trace-4711_kernel_trace.csv".
inline constexpr const char* kOutputName = "trace-%pid%";

// ListFiles looks into the folder of the traces, whose files it names with their whole path, and
// into that of the spill files. Both may be missing.
Files ListFiles(const std::string& folder, const std::string& spill, pid_t server,
                const Pass& pass);

}  // namespace culprit::collect::rocprofv3
