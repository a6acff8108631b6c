#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/by_layer.h"
#include "analysis/find_window.h"
#include "analysis/passes.h"
#include "analysis/proof.h"
#include "analysis/rollup.h"
#include "analysis/rules.h"
#include "base/diagnostics.h"
#include "base/result.h"
#include "base/units.h"
#include "trace/trace.h"

namespace culprit::analysis {

// DeviceTime is how one device spent the window: busy + idle = window, exactly.
struct DeviceTime {
  std::string name;  // hostile until printed
  base::Nanos busy{}, idle{};
};

// StepCounts says how decode was cut into forward passes.
struct StepCounts {
  base::Steps steps;
  std::int64_t draft_passes;
  PassMethod method;
  std::string anchor;
};

// Analysis is everything that is known about one window of one trace. It does not need the trace
// any more, and is small: its size goes with kernels and steps, not with dispatches.
struct Analysis {
  std::string path, format;  // path: hostile until printed
  FoundWindow found;
  base::Tokens tokens;    // what costs are divided by; at least 1
  By by = By::kCategory;  // what the rollup calls a category
  Rollup rollup = {};
  std::optional<StepCounts> steps = {};
  std::vector<DeviceTime> devices = {};  // those that ran something in the window
  std::size_t dispatches = 0;            // of the whole trace
  base::Nanos host_call_time{};  // of runtime calls on the host inside the window; in no row
  std::string longest_host_call = {};
  Proof proof = {};
  base::Diagnostics diagnostics = {};  // of the reader and of the window together

  [[nodiscard]] base::PerToken per_token(base::Nanos time) const { return time / tokens; }
  // steps_per_token is 1 without speculation; 0 when steps are unknown.
  [[nodiscard]] double steps_per_token() const;
};

// Analyze finds the window, cuts it into steps, sorts its kernels into categories, adds up who
// owns its time, and proves that it is complete. Fails only when there is no window or nothing in
// it (kNoWindow), or when it is to be added up by layer and knows of none (kUsage): an incomplete
// trace gives an Analysis whose proof fails.
base::Result<Analysis> Analyze(const trace::Trace& trace, const WindowQuery& query,
                               const RuleSet& rules, By by = By::kCategory);

}  // namespace culprit::analysis
