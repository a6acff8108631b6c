#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "collect/rocprofv3/pass.h"
#include "sys/process.h"

namespace culprit::collect::rocprofv3 {

// Tool is a rocprofv3 and what it says of itself.
struct Tool {
  std::string path;
  std::string version;          // of ROCm, "7.2.0"; of the tool itself where that is all it says
  std::set<std::string> flags;  // "--kernel-trace", "-d"
  bool rocpd = false;           // writes databases
  [[nodiscard]] bool Has(const std::string& flag) const { return flags.contains(flag); }
};

// FindTool looks at $CULPRIT_ROCPROFV3, in PATH and in /opt/rocm/bin, all of `environment`, and
// asks the one it finds. Fails with kEnvironment when there is none, or it does not list what the
// pass needs.
base::Result<Tool> FindTool(const sys::Environment& environment, const Pass& pass = {},
                            const sys::StopSignal& stop = sys::StopSignal());

// ReadHelp takes flags and formats from what --help prints. ReadVersion takes the version from what
// --version prints; "" when there is none.
void ReadHelp(std::string_view help, Tool& tool);
std::string ReadVersion(std::string_view text);

// kOwnHandlers leaves signals to the server's own handlers.
inline constexpr const char* kOwnHandlers = "--disable-signal-handlers";

// WrapperOf is what stands in front of the server's command line.
std::vector<std::string> WrapperOf(const Tool& tool, const std::string& folder,
                                   const Pass& pass = {});

}  // namespace culprit::collect::rocprofv3
