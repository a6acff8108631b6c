#pragma once

#include <span>
#include <string>

#include "base/units.h"
#include "experiment/spec.h"
#include "experiment/trial_record.h"
#include "store/run_directory.h"

namespace culprit::cli {

// LineOf tells of a trial that has just ended, in one line: its times, or its trace, which has none
// to tell of, and why it is void.
std::string LineOf(const store::RunDirectory& run, const experiment::TrialRecord& record);

// Outlook takes the timed trials so far and tells, once a pair is complete, when the next look at
// the result is due if trials go on to take per_trial each: "next look after 4 pairs, in about 6
// min". "" in the middle of a pair, and at a look itself, which may have been the last.
std::string Outlook(const experiment::Spec& spec, std::span<const experiment::TrialRecord> trials,
                    base::Nanos per_trial);

}  // namespace culprit::cli
