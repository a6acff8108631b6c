#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>

#include <ctime>
#include <filesystem>
#include <memory>

#include "base/number_format.h"
#include "base/printable.h"
#include "cli/ab_options.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/restore_report.h"
#include "cli/run_report.h"
#include "experiment/order.h"
#include "experiment/words.h"
#include "gpu/registry.h"
#include "host/services.h"
#include "host/session.h"
#include "lab/calibration.h"
#include "lab/runner.h"
#include "store/prompt_file.h"
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

// What would be run, and in which order; nothing is started or touched.
ExitCode PrintPlan(const Spec& spec) {
  std::string text =
      fmt::format("{}: {} tokens after a prompt of {}, by {}\n", spec.workload.name(),
                  Count(spec.workload.output), base::Grouped(Count(spec.workload.prompt)),
                  experiment::Name(spec.workload.endpoint));
  for (const auto& variant : spec.variants) {
    const auto launch =
        lab::LaunchOf(spec, variant, static_cast<std::uint16_t>(spec.port), "slots");
    text += fmt::format("\n{}:\n  {}\n", variant.label,
                        experiment::JoinWords(server::CommandLine(launch)));
    for (const auto& change : launch.environment) {
      text += change.value ? fmt::format("  {}={}\n", change.key, *change.value)
                           : fmt::format("  without {}\n", change.key);
    }
  }
  const std::size_t arms = spec.design.same_variant ? 2 : spec.variants.size();
  const auto design = experiment::DesignOf(spec.design);
  text +=
      fmt::format("\norder, {} {} pairs:", spec.design.pairs ? "in" : "in at most", design.cap());
  std::size_t pair = design.cap();
  for (const auto& slot : experiment::OrderOfTrials(arms, design.cap(), spec.design.seed)) {
    if (slot.pair != pair) text += "\n ";
    pair = slot.pair;
    text += " " + (spec.design.same_variant ? std::string(slot.variant == 0 ? "A" : "A'")
                                            : spec.variants[slot.variant].label);
  }
  for (const auto& unit : spec.machine.stop_services) text += fmt::format("\nstops {}", unit);
  for (const auto& unit : spec.machine.stop_user_services) {
    text += fmt::format("\nstops {} (of this user)", unit);
  }
  if (spec.machine.power_profile) {
    text += fmt::format("\nsets the power profile {}", *spec.machine.power_profile);
  }
  std::fputs((text + "\n").c_str(), stdout);
  const auto written = FlushStdout();
  return written ? ExitCode::kDone : PrintError(written.error());
}

host::SessionOptions SessionFor(const Spec& spec, const std::string& folder, bool wait) {
  host::SessionOptions session;
  for (const auto& unit : spec.machine.stop_services) {
    session.changes.push_back(
        {host::ServiceId(host::ServiceScope::kSystem, unit), std::string(host::kStopped)});
  }
  for (const auto& unit : spec.machine.stop_user_services) {
    session.changes.push_back(
        {host::ServiceId(host::ServiceScope::kUser, unit), std::string(host::kStopped)});
  }
  if (spec.machine.power_profile) {
    session.changes.push_back({"power-profile", *spec.machine.power_profile, true});
  }
  for (const int port : spec.machine.health) {
    session.health_urls.push_back(fmt::format("http://127.0.0.1:{}/health", port));
  }
  session.health_deadline = spec.limits.health;
  session.holder = "culprit ab in " + folder;
  session.wait_for_machine = wait;
  session.restore.progress = Say;
  return session;
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
                        .sleep = [stop](base::Nanos time) { return stop.SleepFor(time); }},
               .stop = stop} {}

  ExitCode Run() {
    auto state = host::StateFolder();
    if (!state) return PrintError(state.error());
    state_ = *std::move(state);
    bench_.hashes = sys::FileHashes(state_);
    auto session =
        host::Session::Begin(SessionFor(run_.spec(), run_.path(), !options_.no_wait), stop_);
    if (!session) return PrintError(session.error());
    session_ = session->get();
    const auto outcome = Borrowed();
    // The machine comes first, also before an answer.
    const ExitCode restored = PrintRestored((*session)->End());
    if (restored != ExitCode::kDone) return restored;
    if (!outcome) return PrintError(outcome.error());
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
    bench_.before_exec = [this](const sys::ProcessIdentity& process) {
      return session_->NoteStarted(process, "llama-server");
    };
    bench_.ended = [this](const sys::ProcessIdentity& process) { session_->NoteEnded(process); };
    auto prompt = Prompt();
    if (!prompt) return Fail(std::move(prompt.error()));
    const std::string slots = fs::absolute(run_.path()).string() + "/slots";
    std::error_code error;
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
    auto outcome = lab::RunExperiment(run_.spec(), *prompt, FloorsFor(run_, state_), run_.trials(),
                                      bench_, notebook);
    fs::remove_all(slots, error);  // gigabytes that nobody needs again
    return outcome;
  }

  Status TellOfTheMachine() {
    store::RunInfo info = run_.info();
    info.notes = session_->warnings();
    for (const auto& problem : devices_.problems) info.notes.push_back(problem.Text());
    for (const auto& note : info.notes) Say(note);
    info.machine = MachineFacts(bench_.device);
    return run_.WriteInfo(std::move(info));
  }

  // A run that goes on has its prompt; otherwise it is the user's, one made before for the same
  // model, or made now by the baseline's server.
  Result<std::string> Prompt() {
    if (!options_.resume.empty()) {
      auto kept = run_.ReadPrompt();  // absent when it was broken off that early
      if (kept || kept.error().code != ErrorCode::kNotFound) return kept;
    }
    auto prompt = options_.prompt_file.empty() ? CachedPrompt() : GivenPrompt();
    if (!prompt) return Fail(std::move(prompt.error()));
    if (auto kept = run_.WritePrompt(*prompt); !kept) return Fail(std::move(kept.error()));
    return prompt;
  }

  Result<std::string> GivenPrompt() {
    auto prompt = store::ReadPromptFile(options_.prompt_file);
    if (!prompt) return Fail(std::move(prompt.error()));
    const auto& workload = run_.spec().workload;
    if (prompt->tokens != workload.prompt || prompt->endpoint != workload.endpoint) {
      return Fail(ErrorCode::kUsage,
                  fmt::format("is a {} prompt of {} tokens, not a {} prompt of {}",
                              experiment::Name(prompt->endpoint), Count(prompt->tokens),
                              experiment::Name(workload.endpoint), Count(workload.prompt)),
                  options_.prompt_file, "recalibrate it with culprit calibrate");
    }
    return prompt->text;
  }

  Result<std::string> CachedPrompt() {
    const auto& variant = run_.spec().variants.front();
    const std::string file = CacheFile();
    if (!file.empty()) {
      if (auto prompt = store::ReadPromptFile(file)) return prompt->text;
    }
    Say(fmt::format("calibrating a prompt of {} tokens with {}",
                    base::Grouped(Count(run_.spec().workload.prompt)), variant.label));
    auto made = lab::Calibrate(run_.spec(), variant, lab::Prose(), run_.path(), bench_);
    if (!made) return Fail(std::move(made.error()).In("calibration"));
    if (made->prompt.copies > 1) {
      Say(
          fmt::format("the prompt repeats its text {} times: speculation will look better than it "
                      "is",
                      made->prompt.copies));
    }
    std::error_code error;
    if (!file.empty() && fs::create_directories(fs::path(file).parent_path(), error)) error.clear();
    if (!file.empty()) {  // without the cache the next run takes longer, that is all
      static_cast<void>(
          store::WritePromptFile(file, {made->prompt.text, made->prompt.tokens,
                                        run_.spec().workload.endpoint, made->fingerprint}));
    }
    return made->prompt.text;
  }

  // Depends on all that a count of tokens may depend on; "" for a model that is no file.
  std::string CacheFile() {
    const auto& spec = run_.spec();
    const auto& variant = spec.variants.front();
    if (!variant.model) return "";
    const auto model = bench_.hashes.Of(*variant.model, stop_);
    if (!model) return "";
    const std::string key = sys::Sha256Of(
        fmt::format("{}\n{}\n{}\n{}\n{}", *model, experiment::Name(spec.workload.endpoint),
                    Count(spec.workload.prompt), experiment::JoinWords(variant.arguments),
                    sys::Sha256Of(lab::Prose())));
    return fmt::format("{}/prompts/{}.json", state_, key.substr(0, 32));
  }

  std::string OneLine(const experiment::TrialRecord& record) const {
    const auto cost = experiment::CostOf(record, experiment::Metric::kDecode);
    std::string text =
        fmt::format("trial {} · pair {} · {}", record.id, record.pair + 1, record.variant);
    if (cost && record.valid()) {
      text += fmt::format(" · {} ms/token, {} tok/s", base::Millis(cost->value()),
                          base::Rate(cost->value()));
    }
    for (const auto& objection : record.objections) text += " · VOID: " + objection.text;
    return text;
  }

  ExitCode Answer(const lab::Outcome& outcome) {
    if (!outcome.finished) {
      const auto printed = PrintRun(run_, {.finished = false}, options_.output, "");
      PrintError({ErrorCode::kIncomplete, outcome.why, "", LastLog()});
      return printed == ExitCode::kEnvironment ? printed : ExitCode::kInvalid;
    }
    if (run_.spec().design.same_variant) RememberFloor(run_, state_);
    return PrintRun(run_, {.finished = true}, options_.output, options_.fail_on);
  }

  std::string LastLog() const {
    if (run_.trials().empty()) return "";
    const std::string log = run_.FolderOf(run_.trials().back()) + "/server.log";
    return fs::exists(log) ? "the last server's log is " + log : "";
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
  const std::string folder = options.into.empty() ? DefaultFolder(*spec) : options.into;
  return store::RunDirectory::Create(
      folder, *spec,
      {.culprit_version = CULPRIT_VERSION, .created = UtcNow("{:%Y-%m-%dT%H:%M:%SZ}")});
}

ExitCode Run(const Options& options) {
  if (options.dry_run) {
    const auto spec = SpecOf(options.spec);
    return spec ? PrintPlan(*spec) : PrintError(spec.error());
  }
  auto run = OpenRun(options);
  if (!run) return PrintError(run.error());
  Say("run directory: " + run->path());
  const auto stop = sys::StopOnSignals();
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
  AddOutputOptions(*app, options->output);
  return {app, [options] { return Run(*options); }};
}

}  // namespace culprit::cli
