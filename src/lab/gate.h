#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "experiment/spec.h"
#include "gate/gate_run.h"
#include "lab/trial.h"

namespace culprit::lab {

// PositionsOf is how many tokens a gate compares behind each prompt of an experiment; PromptsOf how
// long these prompts are, the shortest first.
base::Tokens PositionsOf(const experiment::Spec& spec);
std::vector<base::Tokens> PromptsOf(const experiment::Spec& spec);

// RunGate starts each variant once, cold, one after the other, and asks of each
//
//   what its model is, and which tokens it makes of a conversation
//   the same prose as tokens
//   a continuation of it, greedily, as it would run by itself
//   the probabilities behind the prose and each token of the baseline's continuation, twice, and
//   the last of them once more without its prefix cache
//
// for each length of a prompt that spec.gate asks for; and all of that once more for each size of
// ubatches. folder gets the servers' logs (LABEL.log, LABEL@ub128.log) and, for the time of the
// gate, what they said. What a candidate's server does wrong is a flaw of it, also that it never is
// healthy; what the baseline's does is an error (kServer, kTimeout), for nothing can be compared
// then. Fails also with kInterrupted, kEnvironment, kUnreadable, and with kUsage where the level is
// none or the prose is too short.
base::Result<gate::GateRun> RunGate(const experiment::Spec& spec, const std::string& folder,
                                    Bench& bench,
                                    const std::function<void(std::string_view)>& tell);

}  // namespace culprit::lab
