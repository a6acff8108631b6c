#include "host/restore.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "base/printable.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/restore_report.h"
#include "host/machine_lock.h"
#include "sys/stop_signal.h"

namespace culprit::cli {
namespace {

struct Options {
  bool abandon = false;
};

void Say(const std::string& sentence) {
  std::fputs((base::Printable(sentence) + "\n").c_str(), stderr);
}

ExitCode Run(const Options& options) {
  const auto stop = sys::StopOnSignals();
  auto folder = host::StateFolder();
  if (!folder) return PrintError(folder.error());
  auto lock = host::MachineLock::Acquire(
      "culprit restore", true, stop,
      [](const std::string& holder) { Say("waiting for the machine: " + holder); });
  if (!lock) return PrintError(lock.error());
  auto journal = host::Journal::OpenUnfinished(*folder);
  if (!journal) return PrintError(journal.error());
  if (!*journal) {
    Say("nothing to restore");
    return ExitCode::kDone;
  }
  if (options.abandon) {
    auto kept = (*journal)->Abandon();
    if (!kept) return PrintError(kept.error());
    Say("given up; what there was to restore stands in " + *kept);
    return ExitCode::kDone;
  }
  return PrintRestored(host::Restore(**journal, {.progress = Say}));
}

}  // namespace

Subcommand AddRestore(CLI::App& program) {
  auto options = std::make_shared<Options>();
  CLI::App* app = program.add_subcommand(
      "restore", "Put this machine back as it was before an interrupted run");
  app->add_flag("--abandon", options->abandon,
                "Restore nothing and forget it: for what can never be restored");
  return {app, [options] { return Run(*options); }};
}

}  // namespace culprit::cli
