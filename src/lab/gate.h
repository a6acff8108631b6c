#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "experiment/spec.h"
#include "gate/gate_run.h"
#include "gate/level.h"
#include "lab/trial.h"

namespace culprit::lab {

// GateWish is what a gate asks of variants: how many tokens of prose they read, how many tokens
// behind it are compared, and what passes.
struct GateWish {
  base::Tokens prompt{20'000};
  base::Tokens positions{128};
  gate::Level level = gate::DefaultLevel();
};

// RunGate starts each variant once, cold, one after the other, and asks of each
//
//   the same prose as tokens, and what its model is
//   a continuation of it, greedily, as it would run by itself
//   the probabilities behind the prose and each token of the baseline's continuation, twice
//
// and judges each candidate. folder gets the servers' logs (gate-LABEL.log) and, for the time of
// the gate, what they said. What a candidate's server does wrong is its verdict; what the
// baseline's does, and a server that never is healthy, is an error (kServer), for nothing can be
// compared then. Fails also with kInterrupted, kEnvironment, kUnreadable, and with kUsage when the
// prose is too short.
base::Result<gate::GateRun> RunGate(const experiment::Spec& spec, const GateWish& wish,
                                    const std::string& folder, Bench& bench,
                                    const std::function<void(std::string_view)>& tell);

}  // namespace culprit::lab
