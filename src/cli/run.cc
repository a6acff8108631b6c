#include <memory>

#include "base/printable.h"
#include "cli/commands.h"
#include "cli/compare_traces.h"
#include "cli/exit_rule.h"
#include "cli/lab_run.h"
#include "cli/output.h"
#include "cli/run_report.h"
#include "report/run_report.h"

namespace culprit::cli {
namespace {

constexpr Stages kStages{.measure = true, .trace = true};

struct Options {
  LabOptions lab;
  ExitRule rule;
  AnalysisOptions analysis;
  OutputOptions output;
};

// A verdict stands without its attribution; the report says what is missing.
report::Report WholeReport(const Options& options, const LabRun& done,
                           const experiment::Evaluation& evaluation, bool& attributed) {
  report::Report verdict = VerdictReport(done.run, evaluation);
  attributed = false;
  if (!done.measured.finished || !evaluation.compared()) return verdict;
  auto attribution = CompareTraces(done.run, options.analysis, true);
  std::vector<std::string> missing = done.untraced;
  if (!attribution) missing.push_back(attribution.error().Text());
  for (const std::string& why : missing) {
    verdict.notes.insert(verdict.notes.begin(),
                         {report::Note::Level::kWarning, "no_attribution", base::Printable(why)});
  }
  if (!attribution) return verdict;
  attributed = done.untraced.empty();
  return report::RunReport(std::move(verdict), *std::move(attribution), evaluation);
}

ExitCode Run(const Options& options) {
  if (options.lab.dry_run) return PrintPlan(options.lab, kStages);
  const auto done = RunStages(options.lab, kStages);
  if (!done) return ApplyWithout(options.rule, done.error());
  const auto evaluation = EvaluateRun(done->run);
  bool attributed = false;
  const auto emitted = Emit(WholeReport(options, *done, evaluation, attributed), options.output);
  const ExitCode measured = AfterMeasuring(*done, evaluation);
  if (!emitted) return ApplyWithout(options.rule, PrintError(emitted.error()));
  return ApplyWithAttribution(options.rule, evaluation, measured, attributed);
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
