#include <memory>
#include <optional>

#include "cli/commands.h"
#include "cli/compare_traces.h"
#include "cli/exit_rule.h"
#include "cli/output.h"
#include "cli/run_report.h"
#include "report/run_report.h"
#include "sys/folder.h"

namespace culprit::cli {
namespace {

struct Options {
  std::vector<std::string> variants;
  AnalysisOptions analysis;
  OutputOptions output;
};

struct Answer {
  report::Report report;
  std::optional<gate::GateRun> gate = {};
};

// The attribution of a run directory, under the verdict of its untraced trials, and both under what
// its gate says.
base::Result<Answer> CompareRun(const std::string& path, const AnalysisOptions& options) {
  auto run = store::RunDirectory::Open(path);
  if (!run) return base::Fail(std::move(run.error()));
  const auto evaluation = EvaluateRun(*run);
  auto attribution = CompareTraces(*run, options, evaluation.compared());
  if (!attribution) return base::Fail(std::move(attribution.error()));
  Answer answer{*std::move(attribution), run->gate()};
  if (evaluation.compared()) {
    answer.report =
        report::JudgedReport(VerdictReport(*run, evaluation), std::move(answer.report), evaluation);
  }
  if (evaluation.compared() || run->gate()) AddGateTo(*run, answer.report);
  return answer;
}

base::Result<Answer> Compare(const Options& options) {
  if (options.variants.size() == 1) {
    const std::string& path = options.variants.front();
    const bool there = sys::IsThere(ParseVariant(path).path);
    if (store::IsRunDirectory(path) || !there) return CompareRun(path, options.analysis);
    return base::Fail(base::ErrorCode::kUsage, "one trace alone cannot be compared", path,
                      "give a second one, or a run directory that holds both, without a label");
  }
  auto rules = LoadRules(options.analysis.rules_file);
  if (!rules) return base::Fail(std::move(rules.error()));
  std::vector<analysis::Variant> variants;
  for (const std::string& argument : options.variants) {
    auto variant = LoadVariant(ParseVariant(argument), options.analysis, *rules);
    if (!variant) return base::Fail(std::move(variant.error()));
    variants.push_back(*std::move(variant));
  }
  auto report = CompareVariants(std::move(variants), options.analysis, false);
  if (!report) return base::Fail(std::move(report.error()));
  return Answer{*std::move(report)};
}

ExitCode Run(const Options& options) {
  const auto answer = Compare(options);
  if (!answer) return PrintError(answer.error());
  const auto emitted = Emit(answer->report, options.output);
  return emitted ? AfterGate(answer->gate, ExitCode::kDone) : PrintError(emitted.error());
}

}  // namespace

Subcommand AddCompare(CLI::App& program) {
  auto options = std::make_shared<Options>();
  CLI::App* app = program.add_subcommand(
      "compare", "Which kernels make B slower than A (first is the baseline)");
  app->add_option("variants", options->variants,
                  "[label=]PATH[:UNTRACED_MS_PER_TOKEN|:RUN.json], at least two; or one run "
                  "directory with a trace of each")
      ->required()
      ->expected(1, -1)
      ->type_name("VARIANT");
  AddAnalysisOptions(*app, options->analysis);
  AddOutputOptions(*app, options->output);
  return {app, [options] { return Run(*options); }};
}

}  // namespace culprit::cli
