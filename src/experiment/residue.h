#pragma once

#include <string>
#include <vector>

#include "experiment/trial_record.h"
#include "experiment/variant.h"

namespace culprit::experiment {

// FactDifference is something that differs between two variants' servers. named tells whether it
// follows from what the user made different (another KV type has another cache size).
struct FactDifference {
  std::string fact, baseline, candidate;
  bool named = false;
};

// Differences lists what the servers of two variants' trials do not have in common, by fact. What
// belongs to a trial rather than to its server is left out.
std::vector<FactDifference> Differences(const Variant& a, const Variant& b,
                                        const TrialRecord& baseline, const TrialRecord& candidate);

}  // namespace culprit::experiment
