#include "lab/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/number_format.h"
#include "base/printable.h"
#include "cli/ab_options.h"
#include "cli/borrow.h"
#include "cli/commands.h"
#include "cli/hashing.h"
#include "cli/output.h"
#include "cli/plan.h"
#include "cli/restore_report.h"
#include "gpu/registry.h"
#include "report/gate_report.h"
#include "sys/host_time.h"

namespace culprit::cli {
namespace {

using base::ErrorCode;
using base::Fail;
using base::Result;
using base::Status;
using experiment::Spec;

struct Options {
  SpecOptions spec;
  OutputOptions output;
  std::string level = "default";
  std::int64_t positions = 128;
  bool dry_run = false, no_wait = false;
};

// The texts of a gate are made of token ids, which only completions take.
Result<Spec> SpecFor(const Options& options) {
  auto spec = SpecOf(options.spec);
  if (!spec) return spec;
  if (spec->variants.size() < 2) {
    return Fail(ErrorCode::kUsage, "one variant alone cannot be compared", "",
                "add a second --variant, which may be the same server under another label");
  }
  spec->workload.endpoint = experiment::Endpoint::kCompletion;
  spec->workload.output = base::Tokens(options.positions);
  spec->workload.cache_prompt = false;
  return spec;
}

Result<lab::GateWish> WishOf(const Options& options, const Spec& spec) {
  constexpr std::int64_t kMostPositions = 100'000;
  if (options.positions < 1 || options.positions > kMostPositions) {
    return Fail(
        ErrorCode::kUsage,
        fmt::format("is {}, not from 1 to {}", options.positions, base::Grouped(kMostPositions)),
        "--positions");
  }
  auto level = gate::ParseLevel(options.level);
  if (!level) return Fail(std::move(level.error()));
  return lab::GateWish{spec.workload.prompt, base::Tokens(options.positions), *std::move(level)};
}

std::string PlanOf(const Spec& spec, const lab::GateWish& wish) {
  std::string text = fmt::format("the gate, level {}: {} positions behind a prompt of {} tokens\n",
                                 wish.level.name, base::Grouped(Count(wish.positions)),
                                 base::Grouped(Count(wish.prompt)));
  text += CommandsText(spec);
  text += fmt::format(
      "\neach starts once, cold, one after the other; {} continues the prompt, and all tell, "
      "twice, "
      "the probabilities of what follows each of its tokens",
      spec.variants.front().label);
  return text + BorrowedText(spec) + "\n";
}

ExitCode PrintGatePlan(const Spec& spec, const lab::GateWish& wish) {
  std::fputs(PlanOf(spec, wish).c_str(), stdout);
  const auto written = FlushStdout();
  return written ? ExitCode::kDone : PrintError(written.error());
}

// What servers say is kept in a folder that is new for each gate; its logs stay until the next.
Result<std::string> MakeFolder(const std::string& state) {
  const std::string folder = state + "/gate";
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  std::filesystem::create_directories(folder, error);
  if (error) return Fail(ErrorCode::kUnreadable, "cannot be made: " + error.message(), folder);
  return folder;
}

Result<gate::GateRun> Borrowed(const Spec& spec, const lab::GateWish& wish,
                               const std::string& state, host::Session& session,
                               const sys::StopSignal& stop) {
  const auto folder = MakeFolder(state);
  if (!folder) return Fail(folder.error());
  const auto devices = gpu::FindDevices();
  lab::Bench bench{.device = *devices.devices.front(),
                   .pace = {.now = sys::BoottimeNow,
                            .sleep = [stop](base::Nanos time) { return stop.SleepFor(time); }},
                   .hashes = sys::FileHashes(state, TellOfHashing()),
                   .stop = stop};
  JournalServers(session, bench);
  return lab::RunGate(spec, wish, *folder, bench, Say);
}

// A difference that was found weighs more than a comparison that could not be made.
ExitCode CodeOf(const gate::GateRun& run) {
  ExitCode code = ExitCode::kDone;
  for (const auto& verdict : run.verdicts) {
    if (verdict.result.passed()) continue;
    if (verdict.result.outcome != gate::Outcome::kNotComparable) return ExitCode::kGateFailed;
    code = ExitCode::kInvalid;
  }
  return code;
}

ExitCode Run(const Options& options) {
  if (auto fits = CheckOutput(options.output); !fits) return PrintError(fits.error());
  const auto spec = SpecFor(options);
  if (!spec) return PrintError(spec.error());
  const auto wish = WishOf(options, *spec);
  if (!wish) return PrintError(wish.error());
  if (options.dry_run) return PrintGatePlan(*spec, *wish);
  const auto state = host::StateFolder();
  if (!state) return PrintError(state.error());
  const auto stop = sys::StopOnSignals();
  auto session = host::Session::Begin(SessionFor(*spec, "culprit gate", !options.no_wait), stop);
  if (!session) return PrintError(session.error());
  for (const auto& warning : (*session)->warnings()) Say(warning);
  const auto run = Borrowed(*spec, *wish, *state, **session, stop);
  const ExitCode restored = PrintRestored((*session)->End());
  if (restored != ExitCode::kDone) return restored;
  if (!run) return PrintError(run.error());
  const auto emitted = Emit(report::GateReport(*run), options.output);
  return emitted ? CodeOf(*run) : PrintError(emitted.error());
}

}  // namespace

Subcommand AddGate(CLI::App& program) {
  auto options = std::make_shared<Options>();
  CLI::App* app = program.add_subcommand(
      "gate", "Whether variants give the same answers, by the probabilities of every token");
  AddVariantOptions(*app, options->spec);
  app->add_option("--gate", options->level,
                  "What passes: default, strict, cosine=X, kl=X (nats) or ppl=X (share)")
      ->type_name("LEVEL")
      ->capture_default_str();
  app->add_option("--positions", options->positions, "Tokens to compare behind the prompt")
      ->type_name("N")
      ->capture_default_str();
  app->add_option("--prompt-tokens", options->spec.prompt_tokens, "Tokens of the prompt [20000]")
      ->type_name("N");
  app->add_flag("--dry-run", options->dry_run, "Print every command; run nothing");
  app->add_flag("--no-wait", options->no_wait, "Fail when somebody else measures on this machine");
  AddMachineOptions(*app, options->spec);
  AddOutputOptions(*app, options->output);
  return {app, [options] { return Run(*options); }};
}

}  // namespace culprit::cli
