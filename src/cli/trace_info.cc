#include <memory>

#include "analysis/trace_summary.h"
#include "cli/commands.h"
#include "cli/load_variant.h"
#include "cli/output.h"
#include "report/trace_info_report.h"
#include "store/trial_folder.h"

namespace culprit::cli {
namespace {

struct Options {
  std::string path, rules_file;
  std::optional<std::int64_t> vocabulary, process;
  bool full_check = false;
  OutputOptions output;
};

ExitCode Run(const Options& options) {
  auto rules = LoadRules(options.rules_file);
  if (!rules) return PrintError(rules.error());
  auto files = store::FindTrialFiles(options.path);
  if (!files) return PrintError(files.error());
  auto trace = ReadWithProgress(files->trace,
                                {.process = options.process, .full_check = options.full_check});
  if (!trace) return PrintError(trace.error());
  auto whole =
      analysis::Analyze(*trace, {.vocabulary = options.vocabulary, .whole_trace = true}, *rules);
  if (!whole) return PrintError(whole.error());
  const auto report = report::TraceInfoReport(analysis::Summarise(*trace), *whole);
  if (auto emitted = Emit(report, options.output); !emitted) return PrintError(emitted.error());
  return ExitCode::kDone;
}

}  // namespace

Subcommand AddTraceInfo(CLI::App& program) {
  auto options = std::make_shared<Options>();
  CLI::App* app = program.add_subcommand("trace-info", "What is in a trace file");
  app->add_option("trace", options->path, "A trace, or a folder with one")
      ->required()
      ->type_name("PATH");
  app->add_option("--vocab", options->vocabulary, "Rows of the output head")
      ->check(CLI::PositiveNumber);
  app->add_option("--process", options->process, "Only this process's dispatches")
      ->type_name("PID");
  app->add_option("--rules", options->rules_file, "Your own category rules, tried first")
      ->type_name("FILE");
  app->add_flag("--full-check", options->full_check, "Check parts of the file not read as well");
  AddOutputOptions(*app, options->output);
  return {app, [options] { return Run(*options); }};
}

}  // namespace culprit::cli
