#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/classify.h"
#include "analysis/ownership.h"
#include "analysis/passes.h"
#include "analysis/window.h"
#include "base/units.h"
#include "trace/trace.h"

namespace culprit::analysis {

// Cost is what some dispatches cost in a window. Costs add up.
//
// exclusive is owned time, clipped to the window; summed is Σ (end − start) of the dispatches that
// start in it, and launches counts those. The short_ fields count launches under 5 µs apart: they
// are bound by launching, not by work. per_step has the exclusive time of each step, in order;
// empty when steps are unknown.
struct Cost {
  base::Nanos exclusive{}, summed{};
  std::int64_t launches = 0;
  base::Nanos short_exclusive{};
  std::int64_t short_launches = 0;
  std::vector<base::Nanos> per_step = {};

  Cost& operator+=(const Cost& other);
  Cost& operator-=(const Cost& other);
};

// KernelCost is the Cost of one class of dispatches. classified: a rule knows it.
struct KernelCost : Cost {
  std::string category;
  std::string identity;    // pairs this kernel with the one of another build
  std::string name;        // full name of one dispatch; hostile until printed
  std::string short_name;  // its base name and template arguments; hostile too
  std::string role;
  bool classified = true;
};

// Rollup is a window's time by kernel. Σ kernels[].exclusive + idle = wall, exactly; in each step
// Σ per_step + idle_per_step = the length of the step, so the steps add up to wall as well.
//
// A step is one target pass with the draft passes before it. It ends when its last dispatch ends;
// the last step takes the tail of the window.
struct Rollup {
  base::Nanos wall{}, idle{};
  std::vector<KernelCost> kernels;         // one entry a class, in order of first appearance
  std::vector<base::Nanos> idle_per_step;  // empty when steps are unknown
  std::int64_t steps = 0;                  // 0: unknown, or too many to tell apart

  [[nodiscard]] base::Nanos exclusive() const { return wall - idle; }
  // total is what all kernels cost together: its exclusive time is the sum, not the rest of wall.
  [[nodiscard]] Cost total() const;
};

// Category is the kernels of one category, and what they cost together.
struct Category {
  std::string name;  // hostile until printed
  Cost cost = {};
  std::vector<const KernelCost*> kernels = {};  // of the rollup
};

// ByCategory groups the kernels of a rollup. Categories and the kernels of each are sorted by
// exclusive time, the largest first, then by name.
std::vector<Category> ByCategory(const Rollup& rollup);

// Roll adds up. passes may be absent: then there are no per-step series.
Rollup Roll(const trace::Trace& trace, const Window& window, const Ownership& ownership,
            const Classification& classes, const std::optional<Passes>& passes);

}  // namespace culprit::analysis
