#include "analysis/proof.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/pass_shapes.h"
#include "base/number_format.h"

namespace culprit::analysis {
namespace {

using base::Count;
using base::Finding;
using base::Severity;

ProofItem Conservation(const ProofInput& input) {
  const Rollup& rollup = input.rollup;
  const base::Nanos owned = rollup.total().exclusive;
  return {"conservation",
          fmt::format("Σ exclusive + idle = window: {} + {} = {} ns", base::Grouped(owned.count()),
                      base::Grouped(rollup.idle.count()), base::Grouped(rollup.wall.count())),
          owned + rollup.idle == rollup.wall && !rollup.kernels.empty()};
}

ProofItem StepsAgree(const ProofInput& input) {
  const auto& implied = input.found.implied_steps;
  if (!input.passes) return {"steps", "no decode steps can be seen in the trace", false};
  const std::int64_t seen = Count(input.passes->steps());
  if (!implied) {
    return {"steps", fmt::format("{} steps seen; nothing says how many tokens they made", seen),
            false};
  }
  const bool agree = seen == Count(*implied);
  return {"steps",
          fmt::format("{} steps seen, each ending in {}; the tokens imply {}", seen,
                      input.passes->anchor, Count(*implied)),
          agree};
}

// Records lists what the reader lost.
ProofItem Records(const ProofInput& input) {
  std::string lost;
  for (const auto& entry : input.trace.diagnostics.entries()) {
    const auto& info = base::Describe(entry.finding);
    // Swapped stamps and duplicates are repaired: nothing is missing.
    const bool repaired =
        entry.finding == Finding::kEndBeforeStart || entry.finding == Finding::kDuplicateDispatches;
    if (info.severity < Severity::kDataLoss || repaired) continue;
    lost +=
        fmt::format("{}{} ({})", lost.empty() ? "" : "; ", info.what, base::Grouped(entry.count));
  }
  return {"records", lost.empty() ? "no record is missing or damaged" : lost, lost.empty()};
}

}  // namespace

bool Proof::complete() const {
  return std::all_of(items.begin(), items.end(), [](const ProofItem& item) { return item.holds; });
}

std::string Proof::reason() const {
  const auto failed =
      std::find_if(items.begin(), items.end(), [](const ProofItem& item) { return !item.holds; });
  return failed == items.end() ? "" : failed->sentence;
}

Proof ProveComplete(const ProofInput& input) {
  Proof proof;
  proof.items.push_back(Conservation(input));
  if (input.found.window.phase == Phase::kDecode) {
    proof.items.push_back(StepsAgree(input));
    if (input.passes) {
      const PassShapes shapes =
          DescribeShapes(input.trace, input.found.window, input.groups, *input.passes);
      proof.items.push_back({"dispatches_per_step", shapes.sentence, shapes.explained});
    }
  }
  proof.items.push_back(Records(input));
  return proof;
}

}  // namespace culprit::analysis
