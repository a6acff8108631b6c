#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "experiment/evaluation.h"
#include "experiment/spec.h"
#include "experiment/trial_record.h"
#include "lab/trial.h"

namespace culprit::lab {

// Notebook is where trials are kept while an experiment runs; the runner knows no files.
//
// begin gives the empty folder of the next trial, end keeps a trial for good. starting is told of
// each trial before it starts, such as for a line on the screen.
struct Notebook {
  std::function<base::Result<std::string>()> begin;
  std::function<base::Status(const experiment::TrialRecord&)> end;
  std::function<base::Status(const PlannedTrial&)> starting;
  std::string slots;  // a folder for KV caches, kept over the whole experiment
};

// Outcome is how an experiment ended: finished when it came to a look that decided, or to its last
// pair. Otherwise why says what made going on pointless.
struct Outcome {
  bool finished = false;
  std::string why;
};

// RunExperiment runs pair after pair until the design says stop. earlier are the trials of a run
// that was broken off; a pair that is not complete there is run again, and so is one with a void
// trial, up to kMostReruns times in all.
//
// Fails with what RunTrial and the notebook fail with; the trials kept until then are good.
inline constexpr int kMostReruns = 6;
base::Result<Outcome> RunExperiment(const experiment::Spec& spec, const std::string& prompt,
                                    const experiment::NoiseFloors& floors,
                                    std::vector<experiment::TrialRecord> earlier, Bench& bench,
                                    const Notebook& notebook);

}  // namespace culprit::lab
