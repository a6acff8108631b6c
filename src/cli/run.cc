#include <memory>

#include "cli/commands.h"
#include "cli/exit_rule.h"
#include "cli/lab_run.h"
#include "cli/output.h"
#include "cli/run_report.h"
#include "cli/whole_report.h"

namespace culprit::cli {
namespace {

constexpr Stages kStages{.measure = true, .trace = true};

struct Options {
  LabOptions lab;
  ExitRule rule;
  AnalysisOptions analysis;
  OutputOptions output;
};

ExitCode Run(const Options& options) {
  if (auto fits = CheckOutput(options.output); !fits)
    return ApplyWithout(options.rule, PrintError(fits.error()));
  if (options.lab.dry_run) return ApplyWithout(options.rule, PrintPlan(options.lab, kStages));
  const auto done = RunStages(options.lab, kStages);
  if (!done) return ApplyWithout(options.rule, done.error());
  const auto evaluation = EvaluateRun(done->run);
  const auto whole = WholeReportOf(done->run, evaluation, options.analysis, done->untraced);
  KeepPage(done->run, whole.report);
  const auto emitted = Emit(whole.report, options.output);
  const ExitCode measured = AfterGate(done->run.gate(), AfterMeasuring(*done, evaluation));
  if (!emitted) return ApplyWithout(options.rule, PrintError(emitted.error()));
  return ApplyWithAttribution(options.rule, evaluation, measured, whole.attributed);
}

}  // namespace

Subcommand AddRun(CLI::App& program) {
  auto options = std::make_shared<Options>();
  CLI::App* app =
      program.add_subcommand("run", "The whole job: who is slower, by how much, and why");
  AddLabOptions(*app, options->lab, kStages);
  AddExitRule(*app, options->rule);
  app->add_option("--kernels", options->analysis.kernels, "Kernels listed under each category")
      ->capture_default_str();
  AddOutputOptions(*app, options->output);
  return {app, [options] { return Run(*options); }};
}

}  // namespace culprit::cli
