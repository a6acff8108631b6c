#include <memory>

#include "cli/commands.h"
#include "cli/lab_run.h"
#include "cli/output.h"
#include "report/traces_report.h"

namespace culprit::cli {
namespace {

constexpr Stages kStages{.trace = true};

struct Options {
  LabOptions lab;
  OutputOptions output;
};

ExitCode Run(const Options& options) {
  if (auto fits = CheckOutput(options.output); !fits) return PrintError(fits.error());
  if (options.lab.dry_run) return PrintPlan(options.lab, kStages);
  const auto done = RunStages(options.lab, kStages);
  if (!done) return done.error();
  std::vector<report::KeptTrace> kept;
  kept.reserve(done->run.traces().size());
  for (const auto& trial : done->run.traces()) kept.push_back({trial, done->run.FolderOf(trial)});
  const auto report = report::TracesReport(done->run.path(), kept, done->untraced);
  if (auto emitted = Emit(report, options.output); !emitted) return PrintError(emitted.error());
  return done->untraced.empty() ? ExitCode::kDone : ExitCode::kInvalid;
}

}  // namespace

Subcommand AddTrace(CLI::App& program) {
  auto options = std::make_shared<Options>();
  CLI::App* app =
      program.add_subcommand("trace", "One trace of each variant, taken by a collector");
  AddLabOptions(*app, options->lab, kStages);
  AddOutputOptions(*app, options->output);
  return {app, [options] { return Run(*options); }};
}

}  // namespace culprit::cli
