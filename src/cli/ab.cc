#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>

#include <ctime>
#include <filesystem>
#include <memory>
#include <random>

#include "base/number_format.h"
#include "base/printable.h"
#include "cli/ab_options.h"
#include "cli/ab_plan.h"
#include "cli/borrow.h"
#include "cli/commands.h"
#include "cli/hashing.h"
#include "cli/output.h"
#include "cli/prompt.h"
#include "cli/restore_report.h"
#include "cli/run_report.h"
#include "gpu/registry.h"
#include "host/session.h"
#include "lab/runner.h"
#include "store/run_directory.h"
#include "sys/host_time.h"

namespace culprit::cli {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::Fail;
using base::Result;
using base::Status;
using experiment::Spec;

struct Options {
  SpecOptions spec;
  std::string into, resume, prompt_file, fail_on;
  bool dry_run = false, no_wait = false;
  OutputOptions output;
};

std::string UtcNow(const char* format) {
  return fmt::format(fmt::runtime(format), fmt::gmtime(std::time(nullptr)));
}

// culprit-runs/20261130-071500-f16-q4
std::string DefaultFolder(const Spec& spec) {
  std::string name = UtcNow("culprit-runs/{:%Y%m%d-%H%M%S}");
  for (std::size_t i = 0; i < std::min<std::size_t>(spec.variants.size(), 3); ++i) {
    name += "-" + spec.variants[i].label;
  }
  return name;
}

experiment::Facts MachineFacts(const gpu::Device& device) {
  experiment::Facts facts{{"device", device.info().name},
                          {"device_vendor", std::string(gpu::Name(device.info().vendor))},
                          {"boot_id", sys::BootId()}};
  if (device.info().driver) facts["driver"] = *device.info().driver;
  utsname system{};
  if (::uname(&system) == 0) facts["kernel"] = system.release;
  return facts;
}

// Pairs of two machines cannot be judged together.
Status CheckSameMachine(const experiment::Facts& before, const experiment::Facts& now) {
  for (const char* key : {"device", "driver", "kernel"}) {
    const auto was = before.find(key), is = now.find(key);
    if (was == before.end() || is == now.end() || was->second == is->second) continue;
    return Fail(ErrorCode::kMismatch,
                fmt::format("the run was begun with the {} {}, and here it is {}", key, was->second,
                            is->second),
                "--resume", "begin a run of its own on this machine");
  }
  return {};
}

void AddOnce(const std::string& note, std::vector<std::string>& notes) {
  if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
}

// Every half a minute, and soon at first: nobody should wonder why nothing happens.
void TellOfWaiting(const gpu::IdleResult& so_far) {
  if (so_far.readings % 30 != 3) return;
  Say(fmt::format("waiting for an idle machine: {} busy at reading {}", base::Percent(*so_far.busy),
                  so_far.readings));
}

// Experiment is one run of `culprit ab`, from the run directory to the verdict.
class Experiment {
 public:
  Experiment(const Options& options, store::RunDirectory run, const sys::StopSignal& stop)
      : options_(options),
        run_(std::move(run)),
        stop_(stop),
        devices_(gpu::FindDevices()),
        bench_{.device = *devices_.devices.front(),
               .pace = {.now = sys::BoottimeNow,
                        .sleep = [stop](base::Nanos time) { return stop.SleepFor(time); },
                        .busy = TellOfWaiting},
               .stop = stop} {}

  ExitCode Run() {
    auto state = host::StateFolder();
    if (!state) return PrintError(state.error());
    state_ = *std::move(state);
    bench_.hashes = sys::FileHashes(state_, TellOfHashing());
    auto session = host::Session::Begin(
        SessionFor(run_.spec(), "culprit ab in " + run_.path(), !options_.no_wait), stop_);
    if (!session) return GiveUp(session.error());
    session_ = session->get();
    const auto outcome = Borrowed();
    // The machine comes first, also before an answer.
    const ExitCode restored = PrintRestored((*session)->End());
    if (restored != ExitCode::kDone) return restored;
    if (!outcome) return GiveUp(outcome.error());
    return Answer(*outcome);
  }

 private:
  Result<lab::Outcome> Borrowed() {
    if (!options_.resume.empty()) {  // somebody may have gone on with it while we waited
      auto now = store::RunDirectory::Open(options_.resume);
      if (!now) return Fail(std::move(now.error()));
      run_ = *std::move(now);
    }
    if (auto told = TellOfTheMachine(); !told) return Fail(std::move(told.error()));
    JournalServers(*session_, bench_);
    auto prompt = Prompt();
    if (!prompt) return Fail(std::move(prompt.error()));
    std::error_code error;
    const std::string slots = fs::absolute(run_.path(), error).string() + "/slots";
    if (run_.spec().workload.cache_prompt) fs::create_directories(slots, error);
    const lab::Notebook notebook{.begin = [this] { return run_.BeginTrial(); },
                                 .end =
                                     [this](const experiment::TrialRecord& record) {
                                       auto kept = run_.EndTrial(record);
                                       if (kept) Say(OneLine(record));
                                       return kept;
                                     },
                                 .starting =
                                     [this](const lab::PlannedTrial&) {
                                       if (stop_.requested())
                                         return Status(Fail(sys::Interrupted()));
                                       return session_->EnsureGuardian();
                                     },
                                 .slots = slots};
    auto outcome = lab::RunExperiment(run_.spec(), *prompt, run_.info().floors, run_.trials(),
                                      bench_, notebook);
    fs::remove_all(slots, error);  // gigabytes that nobody needs again
    return outcome;
  }

  Status TellOfTheMachine() {
    store::RunInfo info = run_.info();
    const experiment::Facts machine = MachineFacts(bench_.device);
    if (!run_.trials().empty()) {
      if (auto same = CheckSameMachine(info.machine, machine); !same) return same;
      if (info.machine["boot_id"] != machine.at("boot_id")) {
        info.notes.emplace_back("the machine was started again in the middle of this run");
      }
    }
    for (const auto& warning : session_->warnings()) AddOnce(warning, info.notes);
    for (const auto& problem : devices_.problems) AddOnce(problem.Text(), info.notes);
    for (const auto& note : info.notes) Say(note);
    info.machine = machine;
    if (auto written = run_.WriteInfo(info); !written || !run_.trials().empty()) return written;
    info.floors = FloorsFor(run_, state_);  // asks for the machine
    return run_.WriteInfo(std::move(info));
  }

  // A run that goes on has its prompt; otherwise it is the user's, or one for the baseline's model.
  Result<std::string> Prompt() {
    if (!options_.resume.empty()) {
      auto kept = run_.ReadPrompt();  // absent when it was broken off that early
      if (kept || kept.error().code != ErrorCode::kNotFound) return kept;
    }
    auto prompt = options_.prompt_file.empty()
                      ? FindPrompt({run_.spec(), state_, run_.path(), bench_})
                      : ReadPromptFor(run_.spec().workload, options_.prompt_file);
    if (!prompt) return Fail(std::move(prompt.error()));
    bench_.prompt_fingerprint = prompt->fingerprint;
    if (auto kept = run_.WritePrompt(prompt->text); !kept) return Fail(std::move(kept.error()));
    return std::move(prompt->text);
  }

  std::string OneLine(const experiment::TrialRecord& record) const {
    const auto cost = experiment::CostOf(record, experiment::Metric::kDecode);
    std::string text =
        fmt::format("trial {} · pair {} · {}", record.id, record.pair + 1, record.variant);
    if (run_.spec().design.same_variant && !record.baseline) text += " (again)";
    if (cost && record.valid()) {
      text += fmt::format(" · {} ms/token, {} tok/s", base::Millis(cost->value()),
                          base::Rate(cost->value()));
    }
    for (const auto& objection : record.objections) text += " · VOID: " + objection.text;
    const std::string log = record.valid() ? "" : LogOf(run_, record);
    return log.empty() ? text : text + "; its log is " + log;
  }

  ExitCode Answer(const lab::Outcome& outcome) {
    if (!outcome.finished) {
      const auto printed = PrintRun(run_, options_.output, "");
      const bool busy = !run_.trials().empty() && !run_.trials().back().valid() &&
                        run_.trials().back().objections.front().id == "not_idle";
      const ExitCode ended = PrintError({busy ? ErrorCode::kEnvironment : ErrorCode::kIncomplete,
                                         outcome.why, run_.path(), LastLog()});
      return printed == ExitCode::kEnvironment ? printed : ended;
    }
    if (run_.spec().design.same_variant) RememberFloor(run_, state_);
    return PrintRun(run_, options_.output, options_.fail_on);
  }

  // A folder that this command made and left empty would only be in the way of the next try.
  ExitCode GiveUp(const base::Error& error) {
    if (options_.resume.empty() && run_.RemoveUnused()) return PrintError(error);
    return PrintError(WithNextStep(error));
  }

  [[nodiscard]] base::Error WithNextStep(base::Error error) const {
    if (error.code == ErrorCode::kInterrupted && error.hint.empty()) {
      error.hint = fmt::format("culprit ab --resume {} goes on", run_.path());
    }
    return error;
  }

  [[nodiscard]] std::string LastLog() const {
    if (run_.trials().empty()) return "";
    const std::string log = LogOf(run_, run_.trials().back());
    return log.empty() ? "" : "the last server's log is " + log;
  }

  const Options& options_;
  store::RunDirectory run_;
  sys::StopSignal stop_;
  gpu::Devices devices_;
  lab::Bench bench_;
  std::string state_;
  host::Session* session_ = nullptr;
};

Result<store::RunDirectory> OpenRun(const Options& options) {
  if (!options.resume.empty()) return store::RunDirectory::Open(options.resume);
  auto spec = SpecOf(options.spec);
  if (!spec) return Fail(std::move(spec.error()));
  // Below 2^32, so that it is a whole number in every format.
  if (!spec->design.seed) spec->design.seed = std::random_device()();
  const std::string folder = options.into.empty() ? DefaultFolder(*spec) : options.into;
  return store::RunDirectory::Create(
      folder, *spec,
      {.culprit_version = CULPRIT_VERSION, .created = UtcNow("{:%Y-%m-%dT%H:%M:%SZ}")});
}

ExitCode Run(const Options& options) {
  if (options.dry_run) {
    const auto spec = SpecOf(options.spec);
    if (!spec) return PrintError(spec.error());
    std::fputs(PlanText(*spec).c_str(), stdout);
    const auto written = FlushStdout();
    return written ? ExitCode::kDone : PrintError(written.error());
  }
  const auto stop = sys::StopOnSignals();  // before there is anything to leave half-made
  auto run = OpenRun(options);
  if (!run) return PrintError(run.error());
  Say("run directory: " + run->path());
  return Experiment(options, *std::move(run), stop).Run();
}

}  // namespace

Subcommand AddAb(CLI::App& program) {
  auto options = std::make_shared<Options>();
  CLI::App* app =
      program.add_subcommand("ab", "Run variants of a server against each other, and judge");
  AddSpecOptions(*app, options->spec);
  app->add_option("--into", options->into, "The run directory to make [culprit-runs/…]")
      ->type_name("DIR");
  app->add_option("--resume", options->resume, "Go on with a run that was broken off")
      ->type_name("DIR");
  app->add_option("--prompt", options->prompt_file, "A prompt that culprit calibrate made")
      ->type_name("FILE");
  app->add_flag("--dry-run", options->dry_run, "Print every command and the order; run nothing");
  app->add_flag("--no-wait", options->no_wait, "Fail when somebody else measures on this machine");
  app->add_option("--fail-on", options->fail_on, "Exit with 1 when a candidate is one")
      ->check(CLI::IsMember({"regression"}));
  // A run that goes on is the experiment that its folder holds.
  for (CLI::Option* option : app->get_options([](const CLI::Option* o) { return o != nullptr; })) {
    const std::string name = option->get_single_name();
    if (name != "help" && name != "resume" && name != "no-wait" && name != "fail-on") {
      app->get_option("--resume")->excludes(option);
    }
  }
  AddOutputOptions(*app, options->output);
  return {app, [options] { return Run(*options); }};
}

}  // namespace culprit::cli
