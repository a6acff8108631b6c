#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "cli/exit_rule.h"
#include "cli/output.h"
#include "cli/run_report.h"
#include "experiment/evaluation.h"
#include "report/ab_report.h"
#include "store/recorded_runs.h"
#include "store/run_directory.h"
#include "sys/folder.h"

namespace culprit::cli {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::Fail;
using base::Result;

struct Options {
  std::vector<std::string> paths;
  std::string baseline;
  OutputOptions output;
};

// Runs is what a report is made of, wherever it comes from.
struct Runs {
  experiment::Spec spec;
  std::vector<experiment::TrialRecord> trials;
  report::AbContext context;
};

Result<Runs> FromRecorded(Result<store::RecordedRuns> recorded, const std::string& where) {
  if (!recorded) return Fail(std::move(recorded.error()));
  return Runs{std::move(recorded->spec),
              std::move(recorded->trials),
              {.where = where, .counts_known = recorded->lengths_known}};
}

// f16=FOLDER, or a folder that gives its own name.
store::VariantFolder FolderArgument(const std::string& argument) {
  const auto equals = argument.find('=');
  if (equals != std::string::npos && equals > 0 && !sys::IsThere(argument)) {
    return {argument.substr(0, equals), argument.substr(equals + 1)};
  }
  return {fs::path(argument).lexically_normal().filename().string(), argument};
}

// The variant called `baseline` comes first.
Result<std::vector<store::VariantFolder>> BaselineFirst(std::vector<store::VariantFolder> folders,
                                                        const std::string& baseline) {
  if (baseline.empty()) return folders;
  const auto it = std::find_if(folders.begin(), folders.end(),
                               [&](const auto& folder) { return folder.label == baseline; });
  if (it == folders.end()) {
    return Fail(ErrorCode::kUsage, "no variant is called " + baseline, "--baseline");
  }
  std::rotate(folders.begin(), it, it + 1);
  return folders;
}

Result<Runs> Load(const Options& options) {
  const std::string& first = options.paths.front();
  std::vector<store::VariantFolder> folders;
  if (options.paths.size() == 1) {
    if (!sys::IsThere(first)) return Fail(ErrorCode::kNotFound, "no such file or folder", first);
    if (!sys::IsFolder(first)) return FromRecorded(store::ReadRunTable(first), first);
    folders = store::FindVariantFolders(first);
    if (folders.size() < 2) {
      return Fail(ErrorCode::kMismatch, "is no run directory and holds no two variants", first,
                  "a variant is a folder with untraced-0.json, untraced-1.json, …");
    }
  } else {
    for (const std::string& path : options.paths) folders.push_back(FolderArgument(path));
  }
  auto ordered = BaselineFirst(std::move(folders), options.baseline);
  if (!ordered) return Fail(std::move(ordered.error()));
  return FromRecorded(store::ReadVariantFolders(*ordered), first);
}

ExitCode SummarizeRun(const std::string& path, const OutputOptions& output) {
  const auto run = store::RunDirectory::Open(path);
  if (!run) return PrintError(run.error());
  const auto evaluation = EvaluateRun(*run);
  report::Report report = VerdictReport(*run, evaluation);
  AddGateTo(*run, report);
  if (auto emitted = Emit(report, output); !emitted) {
    return PrintError(emitted.error());
  }
  return AfterGate(run->gate(), evaluation.compared() ? ExitCode::kDone : ExitCode::kInvalid);
}

ExitCode Run(const Options& options) {
  if (options.paths.size() == 1 && store::IsRunDirectory(options.paths.front())) {
    return SummarizeRun(options.paths.front(), options.output);
  }
  const auto runs = Load(options);
  if (!runs) return PrintError(runs.error());
  const auto evaluation = experiment::Evaluate(runs->spec, runs->trials);
  const auto report = report::AbReport(runs->spec, evaluation, runs->context);
  if (auto emitted = Emit(report, options.output); !emitted) return PrintError(emitted.error());
  return evaluation.compared() ? ExitCode::kDone : ExitCode::kInvalid;
}

}  // namespace

Subcommand AddSummarize(CLI::App& program) {
  auto options = std::make_shared<Options>();
  CLI::App* app = program.add_subcommand("summarize", "The verdict on runs that were made before");
  app->add_option("path", options->paths,
                  "A run directory; a CSV table of runs; or folders of untraced-N.json, one a "
                  "variant (LABEL=FOLDER), or one folder with all of them")
      ->required()
      ->type_name("PATH");
  app->add_option("--baseline", options->baseline, "Which of the folders is the baseline")
      ->type_name("LABEL");
  AddOutputOptions(*app, options->output);
  return {app, [options] { return Run(*options); }};
}

}  // namespace culprit::cli
