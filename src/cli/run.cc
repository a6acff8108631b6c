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

struct Answer {
  report::Report report;
  bool attributed = false;
};

// A verdict stands without its attribution; the report says what is missing.
Answer AnswerOf(const Options& options, const LabRun& done,
                const experiment::Evaluation& evaluation) {
  report::Report verdict = VerdictReport(done.run, evaluation, "run");
  verdict.kind = "run";
  if (!done.measured.finished || !evaluation.compared()) return {std::move(verdict)};
  auto attribution = CompareTraces(done.run, options.analysis, true);
  std::vector<std::string> missing = done.untraced;
  if (!attribution) missing.push_back(attribution.error().Text());
  for (const std::string& why : missing) {
    verdict.notes.insert(verdict.notes.begin(),
                         {report::Note::Level::kWarning, "no_attribution", base::Printable(why)});
  }
  if (!attribution) return {std::move(verdict)};
  return {report::RunReport(std::move(verdict), *std::move(attribution), evaluation),
          done.untraced.empty()};
}

ExitCode Run(const Options& options) {
  if (auto fits = CheckOutput(options.output); !fits)
    return ApplyWithout(options.rule, PrintError(fits.error()));
  if (options.lab.dry_run) return ApplyWithout(options.rule, PrintPlan(options.lab, kStages));
  const auto done = RunStages(options.lab, kStages);
  if (!done) return ApplyWithout(options.rule, done.error());
  const auto evaluation = EvaluateRun(done->run);
  Answer answer = AnswerOf(options, *done, evaluation);
  AddGateTo(done->run, answer.report);
  const auto emitted = Emit(answer.report, options.output);
  const ExitCode measured = AfterGate(done->run.gate(), AfterMeasuring(*done, evaluation));
  if (!emitted) return ApplyWithout(options.rule, PrintError(emitted.error()));
  return ApplyWithAttribution(options.rule, evaluation, measured, answer.attributed);
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
