// borrow: an experiment without its trials, for crash_test.py. It borrows the machine, starts a
// program as its server, stops it and gives the machine back, through the code of the real one, and
// can be halted at each step on the way.
//
//   borrow run [--change ID=VALUE]… [--optional ID=VALUE]… [--health URL]… [--no-wait] SERVER…
//   borrow restore
//   borrow guardian …          by itself, as culprit does
//
// $BORROW_STEPS is a folder: step N of a role (run, restore, guardian) is appended to the file ROLE
// there; $BORROW_HALT=ROLE:N, or ROLE:TEXT for the first step that begins so, halts at one until
// the file `go` is there, having made `halted`.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>

#include "cli/output.h"
#include "cli/restore_report.h"
#include "host/session.h"
#include "sys/stop_signal.h"

namespace culprit {
namespace {

using namespace std::chrono_literals;
using cli::ExitCode;

// $BORROW_PATIENCE_S is when a service is given up that hangs, or that does not answer.
std::chrono::seconds Patience() {
  const char* patience = std::getenv("BORROW_PATIENCE_S");
  return std::chrono::seconds(patience == nullptr ? 60 : std::atoi(patience));
}

void Halt(const std::string& folder) {
  std::ofstream(folder + "halted.new") << ::getpid() << '\n';
  std::filesystem::rename(folder + "halted.new", folder + "halted");
  const sys::StopSignal never;
  while (!std::filesystem::exists(folder + "go") && never.SleepFor(1ms)) {
  }
}

host::AtStep StepsOf(const std::string& role) {
  const char* folder = std::getenv("BORROW_STEPS");
  const char* halts = std::getenv("BORROW_HALT");
  if (folder == nullptr) return {};
  return [role, steps = std::string(folder) + "/",
          halt = fmt::format(",{},", halts == nullptr ? "" : halts),
          count = std::make_shared<int>(0)](std::string_view step) {
    step = step.substr(0, step.find('\n'));
    std::ofstream(steps + role, std::ios::app) << step << '\n';
    const auto named = fmt::format(",{}:{},", role, step.substr(0, step.find(' ')));
    const auto numbered = fmt::format(",{}:{},", role, ++*count);
    if (halt.find(named) != std::string::npos || halt.find(numbered) != std::string::npos) {
      Halt(steps);
    }
  };
}

host::RestoreOptions HowToRestore() {
  return {.rest = Patience(), .progress = [](const std::string& sentence) {
            std::fputs((sentence + "\n").c_str(), stderr);
          }};
}

struct Options {
  std::vector<std::string> changes, optional, health, server, state;
  int pipe = -1;
  bool no_wait = false;
};

host::Change ChangeOf(const std::string& text, bool optional) {
  const auto equals = text.find('=');
  return {text.substr(0, equals), text.substr(equals + 1), optional};
}

host::SessionOptions Wishes(const Options& options) {
  host::SessionOptions wishes{.health_urls = options.health,
                              .health_deadline = Patience(),
                              .holder = "borrow",
                              .wait_for_machine = !options.no_wait,
                              .restore = HowToRestore(),
                              .at_step = StepsOf("run")};
  for (const auto& text : options.changes) wishes.changes.push_back(ChangeOf(text, false));
  for (const auto& text : options.optional) wishes.changes.push_back(ChangeOf(text, true));
  return wishes;
}

base::Status OneTrial(host::Session& session, const Options& options, const sys::StopSignal& stop,
                      const host::AtStep& at_step) {
  if (auto guarded = session.EnsureGuardian(sys::StopSignal()); !guarded) return guarded;
  if (stop.requested()) return base::Fail(sys::Interrupted());
  auto server =
      sys::Process::Start({.argv = options.server, .before_exec = [&](const auto& process) {
                             return session.NoteStarted(process, "the server");
                           }});
  if (!server) return base::Fail(std::move(server.error()));
  if (at_step) at_step(fmt::format("server {} runs", server->identity().pid));
  server->Stop(10s);
  if (at_step) at_step("server stopped");
  session.NoteEnded(server->identity());
  return {};
}

ExitCode Run(const Options& options) {
  const auto stop = sys::StopOnSignals();
  const auto wishes = Wishes(options);
  auto session = host::Session::Begin(wishes, stop);
  if (!session) return cli::PrintError(session.error());
  if ((*session)->earlier()) cli::PrintRestored(*(*session)->earlier());
  for (const auto& warning : (*session)->warnings()) {
    std::fputs(("warning: " + warning + "\n").c_str(), stderr);
  }
  const auto tried = OneTrial(**session, options, stop, wishes.at_step);
  const auto code = cli::PrintRestored((*session)->End());
  if (code != ExitCode::kDone) return code;
  return tried ? ExitCode::kDone : cli::PrintError(tried.error());
}

ExitCode Restore() {
  const auto stop = sys::StopOnSignals();
  auto lock = host::MachineLock::Acquire("borrow restore", true, stop);
  if (!lock) return cli::PrintError(lock.error());
  auto journal = host::Journal::OpenUnfinished(*host::StateFolder(), StepsOf("restore"));
  if (!journal) return cli::PrintError(journal.error());
  if (!*journal) return ExitCode::kDone;
  return cli::PrintRestored(host::Restore(**journal, HowToRestore()));
}

ExitCode Guard(const Options& options) {
  auto report = host::Guard(options.pipe, options.state.at(0), HowToRestore(), StepsOf("guardian"));
  if (!report) return cli::PrintError(report.error());
  return *report ? cli::PrintRestored(**report) : ExitCode::kDone;
}

int Main(int argc, char** argv) {
  Options options;
  CLI::App program("borrow");
  auto* run = program.add_subcommand("run");
  run->add_option("--change", options.changes)->allow_extra_args(false);
  run->add_option("--optional", options.optional)->allow_extra_args(false);
  run->add_option("--health", options.health)->allow_extra_args(false);
  run->add_flag("--no-wait", options.no_wait);
  run->add_option("server", options.server)->required();
  auto* restore = program.add_subcommand("restore");
  auto* guardian = program.add_subcommand("guardian");
  guardian->add_option("--pipe", options.pipe);
  guardian->add_option("--state", options.state)->expected(1);
  CLI11_PARSE(program, argc, argv);
  if (run->parsed()) return static_cast<int>(Run(options));
  if (restore->parsed()) return static_cast<int>(Restore());
  if (guardian->parsed()) return static_cast<int>(Guard(options));
  return 2;
}

}  // namespace
}  // namespace culprit

int main(int argc, char** argv) { return culprit::Main(argc, argv); }
