#pragma once

#include <cstdint>
#include <vector>

#include "base/id.h"
#include "trace/trace.h"

namespace culprit::analysis {

struct GroupTag {};
using GroupId = base::Id<GroupTag>;

// LaunchGroup is one way of launching one kernel: all dispatches of it in a window share the code
// and the launch shape. The same kernel launched over the vocabulary and over a hidden layer is
// two groups, and most decisions about a dispatch can be made once for its group.
struct LaunchGroup {
  trace::KernelId kernel;
  trace::GeometryId geometry;
  std::int64_t launches = 0;
};

// LaunchGroups sorts the dispatches [first, last) of a trace into groups, numbered in order of
// first appearance; of[i] is the group of dispatch first + i.
struct LaunchGroups {
  std::vector<LaunchGroup> groups;
  std::vector<GroupId> of;
};
LaunchGroups GroupLaunches(const trace::Trace& trace, std::size_t first, std::size_t last);

}  // namespace culprit::analysis
