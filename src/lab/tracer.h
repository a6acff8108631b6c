#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "collect/collector.h"
#include "lab/runner.h"

namespace culprit::lab {

// TracePlan is what traces are taken of: an arm each that has no valid trace among `earlier` yet.
// timed are the experiment's other trials: a traced server must be the one that they measured.
//
// A plan with counters is one pass of counting: its collector counts them, and what `earlier` has
// of other passes is no trace of this one.
struct TracePlan {
  const experiment::Spec& spec;
  std::string prompt;
  std::vector<experiment::TrialRecord> earlier;
  std::span<const experiment::TrialRecord> timed;
  std::function<std::unique_ptr<collect::Collector>()> collector;
  std::vector<std::string> counters = {};
};

// HasAllTraces tells whether each arm has a trace that counts; with counters, one of that pass.
bool HasAllTraces(const experiment::Spec& spec, std::span<const experiment::TrialRecord> traces,
                  std::span<const std::string> counters = {});

// CheckTraces fails with what the collector's Check fails with for an arm that is still to be
// traced.
base::Status CheckTraces(const TracePlan& plan, const sys::StopSignal& stop);

// kMostTraces is how often an arm is traced at most while its trials are void for a passing reason.
inline constexpr int kMostTraces = 3;

// TakeTraces runs one traced trial of each arm, one after the other, and keeps each in the
// notebook, void ones too. Returns why arms have no trace, a sentence each; empty when all have
// one. One arm's failure does not keep the others from being traced.
//
// Fails with what RunTrial and the notebook fail with.
base::Result<std::vector<std::string>> TakeTraces(const TracePlan& plan, Bench& bench,
                                                  const Notebook& notebook);

}  // namespace culprit::lab
