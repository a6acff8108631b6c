#pragma once

#include <string>

#include "experiment/trial_record.h"
#include "store/run_directory.h"

namespace culprit::cli {

// LineOf tells of a trial that has just ended, in one line: its times, or its trace, which has none
// to tell of, and why it is void.
std::string LineOf(const store::RunDirectory& run, const experiment::TrialRecord& record);

}  // namespace culprit::cli
