#pragma once

#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "cli/lab_options.h"
#include "lab/runner.h"
#include "store/run_directory.h"

namespace culprit::cli {

// LabRun is what the stages came to. measured is finished also where there was nothing to measure;
// untraced tells why arms have no trace, or no counters, a sentence each.
struct LabRun {
  store::RunDirectory run;
  lab::Outcome measured;
  std::vector<std::string> untraced;
};

// PrintPlan is --dry-run: it says what the stages would do.
ExitCode PrintPlan(const LabOptions& options, Stages stages);

// RunStages makes a run directory, or opens that of --resume, borrows the machine, runs the stages
// and gives the machine back. Traces are taken only of what could be measured. What goes wrong is
// said on stderr; the error is the exit code that it leads to.
tl::expected<LabRun, ExitCode> RunStages(const LabOptions& options, Stages stages);

// AfterMeasuring says on stderr why the measuring came to no end, and returns the code that a
// command ends with: kDone, kEnvironment on a machine that is not idle, or kInvalid when it was
// broken off otherwise or nothing was compared.
ExitCode AfterMeasuring(const LabRun& done, const experiment::Evaluation& evaluation);

}  // namespace culprit::cli
