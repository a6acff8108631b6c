#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/commands.h"
#include "cli/lab_run.h"
#include "cli/load_counters.h"
#include "cli/load_variant.h"
#include "cli/output.h"
#include "report/counters_report.h"

namespace culprit::cli {
namespace {

using base::ErrorCode;
using base::Result;

constexpr Stages kStages{.count = true};

struct Options {
  LabOptions lab;
  std::vector<std::string> read;
  CountOptions count;
  OutputOptions output;
};

ExitCode Print(Result<LoadedCounters> loaded, std::string title, const Options& options,
               const std::vector<std::string>& untaken = {}) {
  if (!loaded) return PrintError(loaded.error());
  // Why a pass could not be taken says more than that it is not there.
  auto& missing = untaken.empty() ? loaded->missing : untaken;
  const auto report = report::CountersReport(loaded->variants,
                                             {std::move(title), std::move(loaded->notes), missing});
  if (auto emitted = Emit(report, options.output); !emitted) return PrintError(emitted.error());
  return missing.empty() ? ExitCode::kDone : ExitCode::kInvalid;
}

std::string TitleOf(const store::RunDirectory& run) { return "Counters in " + run.path(); }

ExitCode Read(const Options& options) {
  if (options.read.size() == 1 && store::IsRunDirectory(options.read.front())) {
    if (!options.count.request_file.empty()) {
      return PrintError({ErrorCode::kUsage, "--request-file is about a file of counters",
                         options.read.front(), "a run directory has its requests in it"});
    }
    const auto run = store::RunDirectory::Open(options.read.front());
    if (!run) return PrintError(run.error());
    return Print(LoadRunCounters(*run, options.count), TitleOf(*run), options);
  }
  const bool alone = options.read.size() == 1;
  return Print(LoadCounterFiles(options.read, options.count),
               alone ? ParseVariant(options.read.front()).path : "Counters of several files",
               options);
}

ExitCode Run(const Options& options) {
  if (auto fits = CheckOutput(options.output); !fits) return PrintError(fits.error());
  if (!options.read.empty()) return Read(options);
  if (options.lab.dry_run) return PrintPlan(options.lab, kStages);
  const auto done = RunStages(options.lab, kStages);
  if (!done) return done.error();
  auto loaded = LoadRunCounters(done->run, options.count);
  if (!loaded && !done->untraced.empty()) {
    return PrintError({ErrorCode::kIncomplete, done->untraced.front(), done->run.path()});
  }
  return Print(std::move(loaded), TitleOf(done->run), options, done->untraced);
}

// What is only read is no experiment.
void ExcludeLabOptions(CLI::App& app, CLI::Option* read) {
  for (CLI::Option* option : app.get_options([](const CLI::Option*) { return true; })) {
    if (option != read && option->get_single_name() != "help") read->excludes(option);
  }
}

}  // namespace

Subcommand AddCounters(CLI::App& program) {
  auto options = std::make_shared<Options>();
  CLI::App* app = program.add_subcommand(
      "counters", "What each variant's kernels take and count: registers, waves; no times");
  AddLabOptions(*app, options->lab, kStages);
  CLI::Option* read =
      app->add_option("--read", options->read,
                      "Run nothing; read a run directory, or [LABEL=]FILE, a counter CSV of "
                      "rocprofv3; more files are set beside the first")
          ->type_name("PATH");
  ExcludeLabOptions(*app, read);
  app->add_option("--request-file", options->count.request_file,
                  "The request of the file, as its client saw it")
      ->type_name("FILE")
      ->needs(read);
  app->add_flag("--whole", options->count.whole,
                "Count all launches, not those of the request's decode");
  app->add_option("--rules", options->count.rules_file, "Your own category rules, tried first")
      ->type_name("FILE");
  AddOutputOptions(*app, options->output);
  return {app, [options] { return Run(*options); }};
}

}  // namespace culprit::cli
