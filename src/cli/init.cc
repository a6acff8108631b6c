#include <unistd.h>

#include <cstdio>
#include <memory>
#include <utility>

#include "cli/commands.h"
#include "cli/output.h"
#include "sys/atomic_file.h"

namespace culprit::cli {

// data/experiment.toml, name and content; made by cmake/EmbedFiles.cmake.
extern const std::vector<std::pair<std::string_view, std::string_view>> kExperimentFile;

namespace {

using base::ErrorCode;

struct Options {
  std::string file = "experiment.toml";
};

ExitCode Run(const Options& options) {
  const std::string_view text = kExperimentFile.front().second;
  if (options.file == "-") {
    std::fwrite(text.data(), 1, text.size(), stdout);
    const auto written = FlushStdout();
    return written ? ExitCode::kDone : PrintError(written.error());
  }
  if (::access(options.file.c_str(), F_OK) == 0) {
    return PrintError({ErrorCode::kUsage, "exists already, and is left as it is", options.file,
                       "name another file, or - for standard output"});
  }
  if (auto written = sys::WriteFileAtomically(options.file, text); !written) {
    return PrintError(written.error());
  }
  Say(options.file + ": fill in the binary and the model, then: culprit run " + options.file +
      " --dry-run");
  return ExitCode::kDone;
}

}  // namespace

Subcommand AddInit(CLI::App& program) {
  auto options = std::make_shared<Options>();
  CLI::App* app =
      program.add_subcommand("init", "Write an experiment file for ab, with all its settings");
  app->add_option("file", options->file, "Where to; - is standard output")
      ->type_name("FILE")
      ->capture_default_str();
  return {app, [options] { return Run(*options); }};
}

}  // namespace culprit::cli
