#pragma once

#include <string>

#include "analysis/launch_groups.h"
#include "analysis/passes.h"
#include "analysis/window.h"
#include "trace/trace.h"

namespace culprit::analysis {

// PassShapes tells whether all passes of a window launched the same number of dispatches.
//
// A number of dispatches is regular when at least one pass in twenty has it: attention changes its
// kernels at some context lengths, and the first draft pass after a verification does a little
// more. A pass with more dispatches than the smallest regular number is explained by the launches
// it has beyond a regular pass, which are named. A pass with fewer is unexplained: records are
// missing. The first pass is exempt, since the window may begin inside it.
struct PassShapes {
  std::string sentence;
  bool explained;
};
PassShapes DescribeShapes(const trace::Trace& trace, const Window& window,
                          const LaunchGroups& groups, const Passes& passes);

}  // namespace culprit::analysis
