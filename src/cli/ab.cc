#include <memory>

#include "cli/commands.h"
#include "cli/exit_rule.h"
#include "cli/lab_run.h"
#include "cli/output.h"
#include "cli/run_report.h"
#include "cli/whole_report.h"

namespace culprit::cli {
namespace {

constexpr Stages kStages{.measure = true};

struct Options {
  LabOptions lab;
  ExitRule rule;
  OutputOptions output;
};

ExitCode Run(const Options& options) {
  if (auto fits = CheckOutput(options.output); !fits)
    return ApplyWithout(options.rule, PrintError(fits.error()));
  if (options.lab.dry_run) return ApplyWithout(options.rule, PrintPlan(options.lab, kStages));
  const auto done = RunStages(options.lab, kStages);
  if (!done) return ApplyWithout(options.rule, done.error());
  const auto evaluation = EvaluateRun(done->run);
  report::Report report = VerdictReport(done->run, evaluation);
  AddGateTo(done->run, report);
  KeepPage(done->run, WholeReportOf(done->run, evaluation, {}).report);
  const auto emitted = Emit(report, options.output);
  const ExitCode code = AfterGate(done->run.gate(), AfterMeasuring(*done, evaluation));
  return Apply(options.rule, evaluation, emitted ? code : PrintError(emitted.error()));
}

}  // namespace

Subcommand AddAb(CLI::App& program) {
  auto options = std::make_shared<Options>();
  CLI::App* app =
      program.add_subcommand("ab", "Run variants of a server against each other, and judge");
  AddLabOptions(*app, options->lab, kStages);
  AddExitRule(*app, options->rule);
  AddOutputOptions(*app, options->output);
  return {app, [options] { return Run(*options); }};
}

}  // namespace culprit::cli
