#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/find_window.h"
#include "analysis/launch_groups.h"
#include "analysis/passes.h"
#include "analysis/rollup.h"
#include "base/diagnostics.h"
#include "trace/trace.h"

namespace culprit::analysis {

// ProofItem is one thing that must hold before a cost is claimed, with the numbers that show it.
struct ProofItem {
  std::string id;  // "conservation", "steps", "dispatches_per_step", "records"
  std::string sentence;
  bool holds;
};

// Proof is the completeness proof that is printed with every attribution: the trace holds all of
// the window. Without it there is no attribution.
struct Proof {
  std::vector<ProofItem> items;

  [[nodiscard]] bool complete() const;
  // reason is the sentence of the first item that does not hold; "" when all do.
  [[nodiscard]] std::string reason() const;
};

// ProofInput is everything that was found out about one window.
struct ProofInput {
  const trace::Trace& trace;
  const FoundWindow& found;
  const LaunchGroups& groups;
  const std::optional<Passes>& passes;
  const Rollup& rollup;
};

// ProveComplete checks, in decode: that Σ exclusive + idle is the window; that the trace shows the
// steps that the tokens imply; that every step launched the same work, or more of it in a way that
// can be named; that no record was lost. In prefill the two about steps do not apply.
// Source: doc/how-it-works.md, "The completeness proof".
Proof ProveComplete(const ProofInput& input);

}  // namespace culprit::analysis
