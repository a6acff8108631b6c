#include <memory>

#include "cli/commands.h"
#include "cli/exit_rule.h"
#include "cli/output.h"
#include "cli/run_report.h"
#include "cli/whole_report.h"

namespace culprit::cli {
namespace {

struct Options {
  std::string run;
  AnalysisOptions analysis;
  OutputOptions output;
};

ExitCode Run(const Options& options) {
  if (auto fits = CheckOutput(options.output); !fits) return PrintError(fits.error());
  const auto run = store::RunDirectory::Open(options.run);
  if (!run) return PrintError(run.error());
  const auto evaluation = EvaluateRun(*run);
  const auto whole = WholeReportOf(*run, evaluation, options.analysis);
  KeepPage(*run, whole.report);
  if (auto emitted = Emit(whole.report, options.output); !emitted) {
    return PrintError(emitted.error());
  }
  return AfterGate(run->gate(), evaluation.compared() ? ExitCode::kDone : ExitCode::kInvalid);
}

}  // namespace

Subcommand AddReport(CLI::App& program) {
  auto options = std::make_shared<Options>();
  CLI::App* app = program.add_subcommand(
      "report", "All that a run directory says, once more, and its page report.html");
  app->add_option("run", options->run, "A run directory")->required()->type_name("DIR");
  app->add_option("--kernels", options->analysis.kernels, "Kernels listed under each category")
      ->capture_default_str();
  AddOutputOptions(*app, options->output);
  return {app, [options] { return Run(*options); }};
}

}  // namespace culprit::cli
