#pragma once

#include <string>

#include "cli/output.h"
#include "experiment/evaluation.h"
#include "store/run_directory.h"

namespace culprit::cli {

// FloorsFor is the noise of comparing a variant with itself, from the A/A sessions that this state
// folder remembers for the same device, model and workload. RememberFloor adds a finished A/A run
// and says what the floor is with it; a warning on stderr when it cannot.
inline constexpr std::size_t kFloorPairs = 6;  // fewer say more of chance than of the machine
experiment::NoiseFloors FloorsFor(const store::RunDirectory& run, const std::string& state_folder);
void RememberFloor(const store::RunDirectory& run, const std::string& state_folder);

// AddGateTo says what the run's correctness gate came to, or that there was none.
void AddGateTo(const store::RunDirectory& run, report::Report& report);

// EvaluateRun judges a run directory, the same each time: noise floors are those that were known
// when the run began. VerdictReport is the report on it; command is what goes on with the run.
experiment::Evaluation EvaluateRun(const store::RunDirectory& run);
report::Report VerdictReport(const store::RunDirectory& run,
                             const experiment::Evaluation& evaluation,
                             const std::string& command = "ab");

// LogOf is the path of what a trial's server said; "" when none was started.
std::string LogOf(const store::RunDirectory& run, const experiment::TrialRecord& trial);

}  // namespace culprit::cli
