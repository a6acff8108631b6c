#include "cli/lab_run.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <filesystem>
#include <random>

#include "base/number_format.h"
#include "base/printable.h"
#include "cli/borrow.h"
#include "cli/hashing.h"
#include "cli/output.h"
#include "cli/prompt.h"
#include "cli/restore_report.h"
#include "cli/run_report.h"
#include "cli/trace_plans.h"
#include "cli/trial_line.h"
#include "collect/registry.h"
#include "experiment/contract.h"
#include "experiment/words.h"
#include "gpu/registry.h"
#include "host/session.h"
#include "lab/gate.h"
#include "lab/tracer.h"
#include "sys/host_time.h"

namespace culprit::cli {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::Fail;
using base::Result;
using base::Status;
using experiment::Spec;

// culprit-runs/20261130-071500-f16-q4
std::string DefaultFolder(const Spec& spec) {
  std::string name = "culprit-runs/" + sys::UtcNow("%Y%m%d-%H%M%S");
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

std::string_view CommandName(Stages stages) {
  if (stages.count) return "counters";
  if (!stages.trace) return "ab";
  return stages.measure ? "run" : "trace";
}

void AddOnce(const std::string& note, std::vector<std::string>& notes) {
  if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
}

// Every half a minute, and soon at first: nobody should wonder why nothing happens.
void TellOfWaiting(const gpu::IdleResult& so_far) {
  if (so_far.readings % 30 != 3) return;
  Say(
      fmt::format("waiting for an idle machine: {} busy at reading {}; --idle-readings 0 would not "
                  "wait",
                  base::Percent(*so_far.busy), so_far.readings));
}

// Staged is one borrowing of the machine for the stages of a run directory.
class Staged {
 public:
  // given are the passes of counters that the command line asks for.
  Staged(const LabOptions& options, Stages stages, store::RunDirectory run,
         std::vector<CounterPass> given, const sys::StopSignal& stop)
      : options_(options),
        stages_(stages),
        run_(std::move(run)),
        given_(std::move(given)),
        stop_(stop),
        devices_(gpu::FindDevices()),
        bench_{.device = *devices_.devices.front(),
               .pace = {.now = sys::BoottimeNow,
                        .sleep = [stop](base::Nanos time) { return stop.SleepFor(time); },
                        .busy = TellOfWaiting},
               .stop = stop} {}

  tl::expected<LabRun, ExitCode> Run() {
    auto state = host::StateFolder();
    if (!state) return tl::unexpected(GiveUp(state.error()));
    if (auto can = CheckCollectors(); !can) return tl::unexpected(GiveUp(can.error()));
    if (IsComplete()) {
      Say("nothing is left to do: every trial and every trace is there");
      return LabRun{std::move(run_), std::move(measured_), {}};
    }
    state_ = *std::move(state);
    bench_.hashes = sys::FileHashes(state_, TellOfHashing());
    const std::string holder = fmt::format("culprit {} in {}", CommandName(stages_), run_.path());
    auto session = host::Session::Begin(SessionFor(run_.spec(), holder, !options_.no_wait), stop_);
    if (!session) return tl::unexpected(GiveUp(session.error()));
    session_ = session->get();
    const auto done = Borrowed();
    // The machine comes first, also before an answer.
    const ExitCode restored = PrintRestored((*session)->End());
    if (restored != ExitCode::kDone) return tl::unexpected(restored);
    if (!done) return tl::unexpected(GiveUp(done.error()));
    if (stages_.measure && measured_.finished && run_.spec().design.same_variant) {
      RememberFloor(run_, state_);
    }
    return LabRun{std::move(run_), std::move(measured_), std::move(untraced_)};
  }

 private:
  Status Borrowed() {
    if (!options_.resume.empty()) {  // somebody may have gone on with it while we waited
      auto now = store::RunDirectory::Open(options_.resume);
      if (!now) return Fail(std::move(now.error()));
      run_ = *std::move(now);
    }
    if (auto told = TellOfTheMachine(); !told) return told;
    JournalServers(*session_, bench_);
    auto prompt = Prompt();
    if (!prompt) return Fail(std::move(prompt.error()));
    std::error_code error;
    const std::string slots = fs::absolute(run_.path(), error).string() + "/slots";
    if (run_.spec().workload.cache_prompt) fs::create_directories(slots, error);
    auto done = RunAll(*prompt, slots);
    fs::remove_all(slots, error);  // gigabytes that nobody needs again
    return done;
  }

  Status RunAll(const std::string& prompt, const std::string& slots) {
    if (auto gated = PassGate(); !gated) return gated;
    const lab::Notebook notebook = NotebookWith(slots);
    if (stages_.measure) {
      measuring_since_ = sys::BoottimeNow();
      auto outcome = lab::RunExperiment(run_.spec(), prompt, run_.info().floors, run_.trials(),
                                        bench_, notebook);
      if (!outcome) return Fail(std::move(outcome.error()));
      measured_ = *std::move(outcome);
    }
    return measured_.finished ? Trace(prompt, notebook) : Status();
  }

  // Before any speed is measured. A gate that fails is told of at once, and what it says stands
  // above every verdict on speed.
  Status PassGate() {
    if (!NeedsGate()) return {};
    const auto folder = run_.BeginGate();
    if (!folder) return Fail(folder.error());
    auto seen = lab::RunGate(run_.spec(), *folder, bench_, Say);
    if (!seen) {
      base::Error error = std::move(seen.error());
      if (error.code == ErrorCode::kServer || error.code == ErrorCode::kTimeout) {
        error.hint += std::string(error.hint.empty() ? "" : "; ") +
                      "--no-gate measures without comparing answers";
      }
      return Fail(std::move(error));
    }
    for (const gate::Verdict& verdict : gate::JudgeRun(*seen)) {
      Say("gate: " + Explain(verdict.result(), seen->baseline, verdict.label).front());
    }
    return run_.EndGate(*std::move(seen));
  }

  [[nodiscard]] bool NeedsGate() const { return stages_.gates(run_.spec()) && !run_.gate(); }

  // Then there is no reason to stop anybody's service.
  bool IsComplete() {
    if (options_.resume.empty() || NeedsGate()) return false;
    if (stages_.measure && !EvaluateRun(run_).finished) return false;
    return HasAllTraces(run_, stages_, Passes());
  }

  // Before hours of measuring, and not after them.
  Status CheckCollectors() {
    const auto plans = Plans("");
    if (!plans) return Fail(plans.error());
    for (const lab::TracePlan& plan : *plans) {
      auto can = lab::CheckTraces(plan, stop_);
      if (!can && stages_.measure) can.error().hint += "; culprit ab measures without traces";
      if (!can) return can;
    }
    return {};
  }

  Status Trace(const std::string& prompt, const lab::Notebook& notebook) {
    for (std::size_t i = 0;; ++i) {
      const auto plans = Plans(prompt);  // anew: each pass adds to the run
      if (!plans) return Fail(plans.error());
      if (i == plans->size()) return {};
      auto problems = lab::TakeTraces((*plans)[i], bench_, notebook);
      const bool stopped = !problems && problems.error().code == ErrorCode::kInterrupted;
      if (!problems && (stopped || !stages_.measure)) return Fail(std::move(problems.error()));
      // What was measured stands without its traces.
      if (!problems) problems = std::vector{problems.error().Text()};
      std::move(problems->begin(), problems->end(), std::back_inserter(untraced_));
    }
  }

  Result<std::vector<lab::TracePlan>> Plans(const std::string& prompt) {
    return TracePlans(run_, stages_, bench_.device.info().vendor, Passes(), prompt);
  }

  // A run remembers what it was asked for: one that is broken off goes on with all of it.
  std::vector<CounterPass> Passes() {
    if (!stages_.count) return {};
    return PassesWith(run_.info().counter_passes, given_);
  }

  lab::Notebook NotebookWith(const std::string& slots) {
    return {.begin = [this] { return run_.BeginTrial(); },
            .end =
                [this](const experiment::TrialRecord& record) {
                  auto kept = run_.EndTrial(record);
                  if (kept) TellOf(record);
                  return kept;
                },
            .starting =
                [this](const lab::PlannedTrial&) {
                  if (stop_.requested()) return Status(Fail(sys::Interrupted()));
                  return session_->EnsureGuardian(stop_);
                },
            .slots = slots};
  }

  void TellOf(const experiment::TrialRecord& record) {
    Say(LineOf(run_, record));
    if (record.traced()) return;
    const base::Nanos each = (sys::BoottimeNow() - measuring_since_) / ++measured_trials_;
    if (const auto outlook = Outlook(run_.spec(), run_.trials(), each); !outlook.empty())
      Say(outlook);
  }

  Status TellOfTheMachine() {
    store::RunInfo info = run_.info();
    const experiment::Facts machine = MachineFacts(bench_.device);
    const bool begun = !run_.trials().empty() || !run_.traces().empty() || !run_.counters().empty();
    if (begun) {
      if (auto same = CheckSameMachine(info.machine, machine); !same) return same;
      if (info.machine["boot_id"] != machine.at("boot_id")) {
        AddOnce("the machine was started again in the middle of this run", info.notes);
      }
    }
    for (const auto& warning : session_->warnings()) AddOnce(warning, info.notes);
    for (const auto& problem : devices_.problems) AddOnce(problem.Text(), info.notes);
    for (const auto& note : info.notes) Say(note);
    info.machine = machine;
    if (stages_.count) info.counter_passes = Passes();
    if (auto written = run_.WriteInfo(info); !written || begun) return written;
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

  // A folder that this command made and left empty would only be in the way of the next try.
  ExitCode GiveUp(const base::Error& error) {
    if (options_.resume.empty() && run_.RemoveUnused()) return PrintError(error);
    return PrintError(WithNextStep(error));
  }

  [[nodiscard]] base::Error WithNextStep(base::Error error) const {
    if (error.code == ErrorCode::kInterrupted && error.hint.empty()) {
      error.hint = fmt::format("culprit {} --resume {} goes on", CommandName(stages_),
                               experiment::AsWord(run_.path()));
    }
    return error;
  }

  const LabOptions& options_;
  Stages stages_;
  store::RunDirectory run_;
  std::vector<CounterPass> given_;
  sys::StopSignal stop_;
  gpu::Devices devices_;
  lab::Bench bench_;
  std::string state_;
  host::Session* session_ = nullptr;
  lab::Outcome measured_{.finished = true};
  base::HostTime measuring_since_{};
  int measured_trials_ = 0;  // by this command
  std::vector<std::string> untraced_;
};

Status CheckStages(const Spec& spec, Stages stages) {
  if (stages.measure) {
    if (auto fits = experiment::CheckComparison(spec); !fits) return fits;
  }
  if (stages.trace && !spec.collector.empty()) {
    auto known = collect::MakeCollector(spec.collector);
    if (!known) return Fail(std::move(known.error()));
  }
  return {};
}

Result<Spec> SpecFor(const LabOptions& options, Stages stages) {
  auto spec = SpecOf(options.spec);
  if (!spec) return spec;
  if (auto fits = CheckStages(*spec, stages); !fits) return Fail(std::move(fits.error()));
  return spec;
}

// passes are the counters that the command line asks for: the run has them from its first moment,
// so that it goes on with them whenever it is broken off.
Result<store::RunDirectory> OpenRun(const LabOptions& options, Stages stages,
                                    const std::vector<CounterPass>& passes) {
  if (!options.resume.empty()) {
    auto run = store::RunDirectory::Open(options.resume);
    if (!run) return run;
    if (auto fits = CheckStages(run->spec(), stages); !fits) return Fail(std::move(fits.error()));
    return run;
  }
  auto spec = SpecFor(options, stages);
  if (!spec) return Fail(std::move(spec.error()));
  // Below 2^32, so that it is a whole number in every format.
  if (!spec->design.seed) spec->design.seed = std::random_device()();
  const std::string folder = options.into.empty() ? DefaultFolder(*spec) : options.into;
  store::RunInfo info{.culprit_version = CULPRIT_VERSION, .created = sys::UtcNow()};
  if (stages.count) info.counter_passes = PassesWith({}, passes);
  return store::RunDirectory::Create(folder, *spec, info);
}

}  // namespace

ExitCode PrintPlan(const LabOptions& options, Stages stages) {
  const auto spec = SpecFor(options, stages);
  if (!spec) return PrintError(spec.error());
  auto passes = ParsePasses(options.passes);
  if (!passes) return PrintError(passes.error());
  std::fputs(PlanText(*spec, stages, PassesWith({}, *std::move(passes))).c_str(), stdout);
  const auto written = FlushStdout();
  return written ? ExitCode::kDone : PrintError(written.error());
}

ExitCode AfterMeasuring(const LabRun& done, const experiment::Evaluation& evaluation) {
  if (!done.measured.finished) {
    const auto& trials = done.run.trials();
    const std::string log = trials.empty() ? "" : LogOf(done.run, trials.back());
    const bool busy = !trials.empty() && !trials.back().valid() &&
                      trials.back().objections.front().id == experiment::kNotIdle;
    return PrintError({busy ? ErrorCode::kEnvironment : ErrorCode::kIncomplete, done.measured.why,
                       done.run.path(), log.empty() ? "" : "the last server's log is " + log});
  }
  return evaluation.compared() ? ExitCode::kDone : ExitCode::kInvalid;
}

tl::expected<LabRun, ExitCode> RunStages(const LabOptions& options, Stages stages) {
  const auto stop = sys::StopOnSignals();  // before there is anything to leave half-made
  auto passes = ParsePasses(options.passes);
  if (!passes) return tl::unexpected(PrintError(passes.error()));
  auto run = OpenRun(options, stages, *passes);
  if (!run) return tl::unexpected(PrintError(run.error()));
  Say("run directory: " + run->path());
  return Staged(options, stages, *std::move(run), *std::move(passes), stop).Run();
}

}  // namespace culprit::cli
