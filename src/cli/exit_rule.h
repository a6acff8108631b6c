#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "cli/exit_code.h"
#include "experiment/evaluation.h"
#include "gate/gate_run.h"

namespace culprit::cli {

// ExitRule says what a verdict does to the exit code: nothing, unless a script asks for it.
//
// fail_on is "" or "regression[:PCT]", where a regression of less than PCT percent does not count.
// bisect is for `git bisect run`, with the baseline as the good build.
struct ExitRule {
  std::string fail_on;
  bool bisect = false;
};
void AddExitRule(CLI::App& command, ExitRule& rule);

// Apply turns the code that a command ends with into the one that the rule asks for: kRegression
// when a candidate's decode or prefill is a regression that counts. With bisect kDone means that
// neither is and that decode was decided; where it was not decided, or nothing could be compared,
// the code is kCannotTell, and kStopBisect where this machine, the command line or the baseline is
// at fault.
ExitCode Apply(const ExitRule& rule, const experiment::Evaluation& evaluation, ExitCode code);
// ApplyWithAttribution is Apply for a command that says why as well: kInvalid when nothing is wrong
// but that. A bisection asks for the verdict alone.
ExitCode ApplyWithAttribution(const ExitRule& rule, const experiment::Evaluation& evaluation,
                              ExitCode code, bool attributed);
// CodeOf is what a gate alone ends with: kDone, kGateFailed, or kInvalid where nothing could be
// compared. AfterGate is what becomes of the code of a command that measured as well: a failed gate
// weighs more than whatever was measured, but for a command that was broken off.
ExitCode CodeOf(const gate::GateRun& gate);
ExitCode AfterGate(const std::optional<gate::GateRun>& gate, ExitCode code);
// ApplyWithout is for a command that came to no evaluation.
ExitCode ApplyWithout(const ExitRule& rule, ExitCode code);

}  // namespace culprit::cli
