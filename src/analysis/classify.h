#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/kernel_name.h"
#include "analysis/launch_groups.h"
#include "analysis/passes.h"
#include "analysis/place.h"
#include "analysis/rules.h"
#include "analysis/window.h"
#include "base/id.h"
#include "trace/trace.h"

namespace culprit::analysis {

struct ClassTag {};
using ClassId = base::Id<ClassTag>;

inline constexpr std::string_view kUnclassified = "[unclassified]";

// Class is what dispatches have in common that a report shows as one kernel of one category.
struct Class {
  std::string category;  // "dense Q4_K", "[unclassified]"
  std::string role;      // "gate/up", "attention out"; empty when it has none
  // What pairs it with the same work in another trace: name, operation, ggml type and role.
  // Builds change template arguments, so the whole name would pair nothing.
  std::string identity;
  trace::KernelId kernel;
  std::optional<std::size_t> rule;  // index in RuleSet::rules; nullopt: none matched
};

// Classification gives every dispatch of a window its class.
struct Classification {
  std::vector<Class> classes;
  std::vector<ClassId> of;        // by dispatch, from window.first on
  std::vector<KernelName> names;  // by KernelId; empty for kernels outside the window
};

// Classify decides each launch group once, and single dispatches only where the category depends
// on their place in the pass. It works without passes (then launches a step are unknown, and a
// draft model is known by its head alone) and cannot fail: what no rule knows is [unclassified].
Classification Classify(const trace::Trace& trace, const Window& window, const LaunchGroups& groups,
                        const std::optional<Passes>& passes, std::optional<std::int64_t> vocabulary,
                        const RuleSet& rules);

// Outcome is one thing a launch can be.
struct Outcome {
  Place place = Place::kUnknown;  // when it stands here; kUnknown: in all other cases
  std::optional<PassKind> pass;   // and in such a pass
  std::string category;
  std::string role;
  std::optional<std::size_t> rule;
};

// Explanation says what the rules make of one launch, whose sign they find themselves. Outcomes
// that depend on the order of launches come first; the last one holds in all other cases.
struct Explanation {
  KernelName name;
  Sign sign = Sign::kNone;
  std::vector<Outcome> outcomes;
};

Explanation Explain(std::string_view full_name, trace::WorkKind kind, Launch launch,
                    const RuleSet& rules);

// LaunchClass is what the rules make of a kernel's launch whose place in the pass nobody knows.
// Fields are as in Class.
struct LaunchClass {
  KernelName name;
  std::string category, role, identity;
};
LaunchClass ClassifyLaunch(std::string_view full_name, const Launch& launch, const RuleSet& rules);

}  // namespace culprit::analysis
