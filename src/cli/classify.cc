#include "analysis/classify.h"

#include <memory>

#include "analysis/find_window.h"
#include "analysis/passes.h"
#include "cli/commands.h"
#include "cli/load_variant.h"
#include "cli/output.h"
#include "report/classify_report.h"
#include "store/trial_folder.h"

namespace culprit::cli {
namespace {

struct Options {
  std::vector<std::string> names;
  std::string trace, rules_file;
  std::optional<std::int64_t> vocabulary;
  std::vector<std::uint32_t> grid, block;
  OutputOptions output;
};

// "--grid 151936,1,1"; missing dimensions are 1.
trace::Dim3 Dimensions(const std::vector<std::uint32_t>& sizes) {
  const auto at = [&](std::size_t i) { return i < sizes.size() ? sizes[i] : 1; };
  return sizes.empty() ? trace::Dim3{} : trace::Dim3{at(0), at(1), at(2)};
}

base::Result<report::Report> ClassifyTrace(const Options& options, const analysis::RuleSet& rules) {
  auto files = store::FindTrialFiles(options.trace);
  if (!files) return base::Fail(std::move(files.error()));
  auto trace = ReadWithProgress(files->trace, {});
  if (!trace) return base::Fail(std::move(trace.error()));
  auto found = analysis::FindWindow(*trace, {.whole_trace = true});
  if (!found) return base::Fail(std::move(found.error()));
  const auto& window = found->window;
  const auto groups = analysis::GroupLaunches(*trace, window.first, window.last);
  const auto passes =
      analysis::FindPasses(*trace, window, groups, {.vocabulary = options.vocabulary});
  const auto classes =
      analysis::Classify(*trace, window, groups, passes, options.vocabulary, rules);
  return report::ClassifyTraceReport(*trace, classes, rules);
}

ExitCode Run(const Options& options) {
  if (options.names.empty() == options.trace.empty()) {
    return PrintError({base::ErrorCode::kUsage, "give kernel names or --trace, one of the two"});
  }
  auto rules = LoadRules(options.rules_file);
  if (!rules) return PrintError(rules.error());
  if (!options.trace.empty()) {
    auto report = ClassifyTrace(options, *rules);
    if (!report) return PrintError(report.error());
    if (auto emitted = Emit(*report, options.output); !emitted) return PrintError(emitted.error());
    return ExitCode::kDone;
  }
  const analysis::Launch launch{
      .geometry = {.grid = Dimensions(options.grid), .block = Dimensions(options.block)},
      .vocab = options.vocabulary};
  const auto report = report::ClassifyNamesReport(options.names, launch, *rules);
  if (auto emitted = Emit(report, options.output); !emitted) return PrintError(emitted.error());
  return ExitCode::kDone;
}

}  // namespace

Subcommand AddClassify(CLI::App& program) {
  auto options = std::make_shared<Options>();
  CLI::App* app =
      program.add_subcommand("classify", "Which category rule matches a kernel, and why");
  app->add_option("names", options->names, "Kernel names, mangled or demangled")->type_name("NAME");
  app->add_option("--trace", options->trace, "Classify everything in a trace instead")
      ->type_name("PATH");
  app->add_option("--grid", options->grid, "Blocks of the launch: X[,Y[,Z]]")
      ->delimiter(',')
      ->allow_extra_args(false);
  app->add_option("--block", options->block, "Threads of a block: X[,Y[,Z]]")
      ->delimiter(',')
      ->allow_extra_args(false);
  app->add_option("--vocab", options->vocabulary, "Rows of the output head")
      ->check(CLI::PositiveNumber);
  app->add_option("--rules", options->rules_file, "Your own category rules, tried first")
      ->type_name("FILE");
  AddOutputOptions(*app, options->output);
  return {app, [options] { return Run(*options); }};
}

}  // namespace culprit::cli
