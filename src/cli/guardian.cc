#include "host/guardian.h"

#include <memory>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/restore_report.h"

namespace culprit::cli {
namespace {

struct Options {
  int pipe = -1;
  std::string state_folder;
};

ExitCode Run(const Options& options) {
  auto report = host::Guard(options.pipe, options.state_folder, {});
  if (!report) return PrintError(report.error());
  return *report ? PrintRestored(**report) : ExitCode::kDone;
}

}  // namespace

// Not for people: the guardian that a run starts beside itself.
Subcommand AddGuardian(CLI::App& program) {
  auto options = std::make_shared<Options>();
  CLI::App* app = program.add_subcommand("guardian")->group("");
  app->add_option("--pipe", options->pipe)->required();
  app->add_option("--state", options->state_folder)->required();
  return {app, [options] { return Run(*options); }};
}

}  // namespace culprit::cli
