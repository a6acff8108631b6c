#include <memory>

#include "cli/commands.h"
#include "cli/load_variant.h"
#include "cli/output.h"
#include "report/analyze_report.h"

namespace culprit::cli {
namespace {

struct Options {
  std::string path, shorter;
  AnalysisOptions analysis;
  OutputOptions output;
};

ExitCode Run(const Options& options) {
  auto rules = LoadRules(options.analysis.rules_file);
  if (!rules) return PrintError(rules.error());
  VariantArgument argument = ParseVariant(options.path);
  argument.with_untraced = false;
  auto variant = options.shorter.empty() ? LoadVariant(argument, options.analysis, *rules)
                                         : LoadDifference(argument, ParseVariant(options.shorter),
                                                          options.analysis, *rules);
  if (!variant) return PrintError(variant.error());
  const bool complete = variant->analysis.proof.complete();
  if (!complete && !options.analysis.incomplete) {
    return PrintError({base::ErrorCode::kIncomplete,
                       "the completeness proof fails: " + variant->analysis.proof.reason(),
                       variant->analysis.path, "--incomplete prints the table all the same"});
  }
  const auto report =
      report::AnalyzeReport(variant->label, variant->analysis, options.analysis.kernels, !complete);
  if (auto emitted = Emit(report, options.output); !emitted) return PrintError(emitted.error());
  return ExitCode::kDone;
}

}  // namespace

Subcommand AddAnalyze(CLI::App& program) {
  auto options = std::make_shared<Options>();
  CLI::App* app = program.add_subcommand("analyze", "Where one trace's time went");
  app->add_option("trace", options->path, "A trace, or a folder with one and its request")
      ->required()
      ->type_name("PATH");
  app->add_option("--minus", options->shorter,
                  "A trace of the same request with fewer tokens: analyse what is added to it")
      ->type_name("PATH");
  AddAnalysisOptions(*app, options->analysis);
  AddOutputOptions(*app, options->output);
  return {app, [options] { return Run(*options); }};
}

}  // namespace culprit::cli
