#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"
#include "base/id.h"
#include "base/string_pool.h"
#include "base/units.h"
#include "trace/geometry.h"

namespace culprit::trace {

struct CounterTag {};
using CounterId = base::Id<CounterTag>;

// Resources are what a launch takes of a compute unit, as the profiler writes it: registers of a
// work-item, bytes of LDS of a workgroup and of scratch of a work-item. What is not told is absent.
struct Resources {
  std::optional<std::int64_t> vgpr = {}, accum_vgpr = {}, sgpr = {};
  std::optional<std::int64_t> lds_bytes = {}, scratch_bytes = {};
  auto operator<=>(const Resources&) const = default;

  // Raise takes over what is larger in another.
  void Raise(const Resources& other) {
    for (const auto member : {&Resources::vgpr, &Resources::accum_vgpr, &Resources::sgpr,
                              &Resources::lds_bytes, &Resources::scratch_bytes}) {
      this->*member = std::max(this->*member, other.*member);
    }
  }
};

// CounterSum adds up one counter's values over launches. count may be less than the launches: a
// profiler leaves values out, and a ratio of nothing has none.
struct CounterSum {
  double sum = 0;
  std::int64_t count = 0;
  bool operator==(const CounterSum&) const = default;

  void Add(const CounterSum& other) {
    sum += other.sum;
    count += other.count;
  }
  // mean is of those launches that have a value; absent without any.
  [[nodiscard]] std::optional<double> mean() const {
    return count > 0 ? std::optional(sum / static_cast<double>(count)) : std::nullopt;
  }
};

// CountedKernel is what was counted of the launches of one kernel that have the same shape and the
// same resources; counters lacks those that no launch has a value of.
struct CountedKernel {
  base::StringId name;  // as Kernel::name: full, hostile until printed
  Geometry geometry;
  Resources resources;
  std::int64_t launches = 0;
  std::map<CounterId, CounterSum> counters;
};

// CounterSet is what a profiler counted, added up by kernel.
//
// It holds no time, no duration and no order, and that is what it is for: to count, a profiler lets
// kernels run one by one, so whatever it says of their times is no timing. A reader looks at stamps
// only to choose the dispatches of a window, and drops them; so nothing that gets a CounterSet can
// make a claim about time, or put a count into a table of times.
struct CounterSet {
  std::string path;
  std::vector<base::StringId> counters;  // names, by CounterId, as they first come
  std::vector<CountedKernel> kernels;    // as they first come
  std::int64_t launches = 0;             // of all kernels
  std::int64_t outside = 0;              // launches that the window leaves out
  base::StringPool strings;
  base::Diagnostics diagnostics;
};

// CountWindow says which dispatches count: those that begin after `after` and not after `until`.
// CLOCK_BOOTTIME, which is the profiler's clock too.
struct CountWindow {
  base::HostTime after, until;
};

}  // namespace culprit::trace
