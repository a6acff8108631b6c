#include "lab/trial.h"

#include <fmt/format.h>

#include <array>
#include <thread>

#include "base/number_format.h"
#include "experiment/server_flags.h"
#include "gpu/processes.h"
#include "gpu/sampler.h"
#include "lab/calibration.h"
#include "lab/readings.h"
#include "lab/server_facts.h"
#include "server/client.h"
#include "server/identity.h"
#include "server/server.h"
#include "sys/host_time.h"
#include "sys/ports.h"
#include "sys/text_file.h"

namespace culprit::lab {
namespace {

constexpr const char* kTraceFailed = "trace_failed";

void ReplaceAll(std::string& text, std::string_view what, std::string_view with) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

using base::ErrorCode;
using base::Fail;
using base::Result;
using base::Status;
using experiment::Option;
using experiment::Spec;
using experiment::TrialRecord;

// OneTrial keeps together what the steps of a trial share.
class OneTrial {
 public:
  OneTrial(const Spec& spec, const std::string& prompt, const PlannedTrial& planned, Bench& bench)
      : spec_(spec), prompt_(prompt), planned_(planned), bench_(bench) {
    record_.id = planned.id;
    record_.pair = planned.pair;
    record_.position = planned.position;
    record_.baseline = planned.baseline;
    record_.variant = planned.variant->label;
    if (planned.collector != nullptr) record_.collector = planned.collector->name();
  }

  Result<TrialRecord> Run() {
    if (auto gate = WaitForIdleMachine(); !gate) return Fail(std::move(gate.error()));
    record_.started = sys::UtcNow();
    // A busy machine voids the trial; running it all the same would waste the user's time.
    if (record_.gate && !record_.gate->idle) return std::move(record_);
    auto port = sys::FreePort(static_cast<std::uint16_t>(spec_.port));
    if (!port) return Fail(std::move(port.error()));
    server::LaunchOptions launch = LaunchOf(spec_, *planned_.variant, *port, planned_.slots);
    launch.log_file = planned_.folder + "/" + experiment::kServerLog;
    launch.before_exec = bench_.before_exec;
    if (planned_.collector != nullptr) {
      const auto wrapped = Wrap(launch);
      if (!wrapped) return Fail(wrapped.error());
      if (!*wrapped) return std::move(record_);
    }
    auto server = server::Server::Start(launch);
    if (!server) return StartFailed(std::move(server.error()));
    Status done = Measure(*server);
    if (done && planned_.collector != nullptr && record_.completion) done = Collect(*server);
    const bool died = server->process().Poll().has_value();
    const auto stopped = server->Stop(spec_.limits.stop);
    if (bench_.ended) bench_.ended(server->identity());
    if (stopped.killed) record_.facts["stopped"] = "killed";
    for (const std::string& stray : server->strays()) {
      std::string& all = record_.facts["left_behind"];
      all += (all.empty() ? "" : ", ") + stray;
    }
    if (auto read = ReadLog(server->ReadLog()); !read) return Fail(std::move(read.error()));
    record_.readings["after"] = ReadingsOf(bench_.device.Read(bench_.pace.now()));
    if (!done) {
      if (done.error().code != ErrorCode::kServer && done.error().code != ErrorCode::kTimeout) {
        return Fail(std::move(done.error()));
      }
      record_.completion.reset();
      if (LostPort(*port)) {
        ObjectToServer("port_taken", std::move(done.error()));
      } else {
        ObjectToServer("server_failed", std::move(done.error()), died ? Suspicion() : "");
      }
    }
    return std::move(record_);
  }

 private:
  // Its hint names the log where it is now; the folder will get another name.
  void ObjectToServer(std::string id, base::Error error, std::string hint = "") {
    error.hint = std::move(hint);
    Object(std::move(id), error.Text());
  }

  // What is said of a server that died, beside what its log says.
  [[nodiscard]] std::string Suspicion() const {
    return planned_.collector == nullptr ? "" : planned_.collector->Suspicion();
  }

  // The folder will get another name: what lies in it is told by its name there.
  void ObjectToTrace(const base::Error& error) {
    std::string text = error.Text();
    std::error_code error_code;
    const std::string real = std::filesystem::canonical(planned_.folder, error_code).string();
    for (const std::string& folder : {real, planned_.folder}) {
      if (folder.empty()) continue;
      ReplaceAll(text, folder + "/", "");
      ReplaceAll(text, folder, "its folder");
    }
    Object(kTraceFailed, std::move(text));
  }

  // Somebody may take a port between the look for a free one and the server's own bind.
  [[nodiscard]] bool LostPort(std::uint16_t port) const {
    const auto free = sys::FreePort(port);
    return record_.load_time == base::Nanos::zero() && free && *free != port;
  }

  void Object(std::string id, std::string text) {
    record_.objections.push_back({std::move(id), std::move(text)});
  }

  // Puts the collector around the server; false when it objects to that.
  Result<bool> Wrap(server::LaunchOptions& launch) {
    auto wrapped = planned_.collector->Prepare(
        SubjectOf(launch), {.folder = planned_.folder, .log_file = launch.log_file}, bench_.stop);
    if (!wrapped && wrapped.error().code == ErrorCode::kInterrupted) return Fail(wrapped.error());
    if (!wrapped) {
      ObjectToTrace(wrapped.error());
      return false;
    }
    launch.wrapper = std::move(wrapped->wrapper);
    launch.environment.insert(launch.environment.end(), wrapped->environment.begin(),
                              wrapped->environment.end());
    return true;
  }

  // Gets the trace to safety, which ends the server.
  Status Collect(server::Server& server) {
    const auto& completion = *record_.completion;
    const base::HostTime now = bench_.pace.now();
    auto collected = planned_.collector->Finish(
        server.process(), {completion.sent.value_or(now), completion.ended.value_or(now)},
        bench_.stop);
    if (collected) {
      record_.trace = *std::move(collected);
    } else if (collected.error().code == ErrorCode::kInterrupted) {
      return Fail(std::move(collected.error()));
    } else {
      ObjectToTrace(collected.error());
    }
    return {};
  }

  Status WaitForIdleMachine() {
    gpu::IdleRule rule = gpu::RuleFor(bench_.device.info().vendor);
    if (spec_.limits.idle_readings == 0) return {};
    rule.readings = spec_.limits.idle_readings;
    rule.tries = spec_.limits.idle_tries;
    const auto result = gpu::WaitUntilIdle(bench_.device, rule, bench_.first_gate, bench_.pace);
    if (result.interrupted) return Fail(sys::Interrupted());
    if (!bench_.first_gate) bench_.first_gate = result.temperature;
    record_.gate = experiment::Gate{.idle = result.idle || result.busy_unknown,
                                    .cooled = !result.still_warm,
                                    .waited = result.waited,
                                    .why_not = gpu::Explain(result)};
    return {};
  }

  // A binary that cannot be started is the variant's fault, anything else the machine's.
  Result<TrialRecord> StartFailed(base::Error error) {
    if (error.code != ErrorCode::kNotFound && error.code != ErrorCode::kEnvironment) {
      return Fail(std::move(error));
    }
    ObjectToServer("server_failed", std::move(error));
    return std::move(record_);
  }

  Status Measure(server::Server& server) {
    const base::HostTime start = bench_.pace.now();
    if (auto healthy = server.WaitUntilHealthy(spec_.limits.load, bench_.stop); !healthy) {
      return healthy;
    }
    record_.load_time = bench_.pace.now() - start;
    const server::Client client(server.url(),
                                {.idle = spec_.limits.request, .total = spec_.limits.request});
    if (auto known = Identify(server, client); !known) return Fail(server.Explain(known.error()));
    if (!record_.objections.empty()) return {};  // no time of this server would count
    if (auto warm = WarmUp(client); !warm) return Fail(server.Explain(warm.error()));
    LookForOthers(server);
    record_.readings["before"] = ReadingsOf(bench_.device.Read(bench_.pace.now()));
    if (auto asked = Ask(server, client); !asked) return Fail(server.Explain(asked.error()));
    LookForOthers(server);
    return {};
  }

  Status Identify(const server::Server& server, const server::Client& client) {
    auto props = client.GetProps(bench_.stop);
    if (!props) return Fail(std::move(props.error()));
    props_ = *std::move(props);
    CheckPrompt();
    CheckContext();
    auto identity = server::IdentifyProcess(server.identity().pid, bench_.hashes, bench_.stop);
    if (!identity) {
      if (identity.error().code == ErrorCode::kInterrupted) return Fail(identity.error());
      Object("identity_unknown", identity.error().Text());
      return {};
    }
    for (const auto& object : identity->objects) record_.objects[object.path] = object.sha256;
    return LookForSymbols(*identity);
  }

  // Such a server stops early, each time; prompts that take minutes need not be read for that.
  void CheckContext() {
    const std::int64_t needed = Count(spec_.workload.prompt) + Count(spec_.workload.output);
    if (!props_.context || Count(*props_.context) >= needed) return;
    Object("context_too_small",
           fmt::format("its context holds {} tokens, prompt and output need {}",
                       base::Grouped(Count(*props_.context)), base::Grouped(needed)));
  }

  Status LookForSymbols(const server::Identity& identity) {
    for (const std::string& text : planned_.variant->expect_symbol) {
      const std::string key = identity.digest() + text;
      if (!bench_.symbols.contains(key)) {
        auto found = server::FindText(identity.objects, text, bench_.stop);
        if (!found) return Fail(std::move(found.error()));
        bench_.symbols[key] = found->has_value();
      }
      if (bench_.symbols[key]) continue;
      Object("symbol_missing", fmt::format("neither the server nor a library it loaded contains "
                                           "\"{}\": what the variant is about is not in this build",
                                           text));
    }
    return {};
  }

  // Prompts are made with the baseline's server; other variants may well have another model, and
  // the contract counts their tokens.
  void CheckPrompt() {
    const std::string& made_for = bench_.prompt_fingerprint;
    if (!planned_.baseline || made_for.empty()) return;
    if (Fingerprint(*planned_.variant, props_, bench_) == made_for) return;
    Object("prompt_outdated",
           "recalibrate: the prompt was made for another model or chat template than this "
           "server's; culprit calibrate makes one");
  }

  [[nodiscard]] server::CompletionRequest Request(base::Tokens most) const {
    server::CompletionRequest request;
    request.endpoint = spec_.workload.endpoint;
    request.prompt = prompt_;
    request.most = most;
    request.seed = spec_.workload.seed;
    request.cache_prompt = spec_.workload.cache_prompt;
    return request;
  }

  // With a kept prompt the first trial of a variant saves its KV cache and the others load it.
  Status WarmUp(const server::Client& client) {
    const std::string slot = planned_.variant->label + ".slot";
    if (spec_.workload.cache_prompt && client.RestoreSlot(0, slot, bench_.stop)) {
      record_.facts["prompt_from"] = "saved slot";
    }
    auto warm = client.Complete(Request(kWarmUpTokens), bench_.stop);
    if (!warm) return Fail(std::move(warm.error()));
    const bool save = spec_.workload.cache_prompt && !record_.facts.contains("prompt_from");
    // A server without slots evaluates the prompt anew in each trial, which only takes longer.
    if (save) static_cast<void>(client.SaveSlot(0, slot, bench_.stop));
    return {};
  }

  Status Ask(const server::Server& server, const server::Client& client) {
    gpu::Sampler sampler(bench_.device, bench_.pace.now, {.server_group = server.identity().pid});
    auto completion = client.Complete(Request(spec_.workload.output), bench_.stop);
    const auto samples = sampler.Stop();
    if (!completion) return Fail(std::move(completion.error()));
    if (completion->sent && completion->ended && !completion->arrivals.empty()) {
      const base::HostTime first = completion->arrivals.front(), last = completion->arrivals.back();
      record_.readings["prefill"] = ReadingsOf(gpu::Summarize(samples, *completion->sent, first));
      record_.readings["decode"] = ReadingsOf(gpu::Summarize(samples, first, last));
      const auto whole = gpu::Summarize(samples, *completion->sent, last);
      if (whole.energy) record_.energy_j = whole.energy->value();
      if (bench_.device.info().vendor == gpu::Vendor::kCpu) NoteOtherPrograms();
    }
    record_.completion = *std::move(completion);
    return {};
  }

  // On a CPU others can't be told from the server by who has the device open, but by what it is
  // busy with beside the server.
  void NoteOtherPrograms() {
    for (const char* phase : {"prefill", "decode"}) {
      auto& values = record_.readings[phase].values;
      const auto busy = values.find("busy_share"), server = values.find("server_cpu_cores");
      if (busy == values.end() || server == values.end()) continue;
      const double all = busy->second.mean * std::thread::hardware_concurrency();
      const double others = std::max(0.0, all - server->second.mean);
      values["other_cpu_cores"] = {.mean = others, .min = others, .max = others};
    }
  }

  void LookForOthers(const server::Server& server) {
    const auto pids = bench_.device.Processes();
    if (!pids) return;
    for (const auto& process : gpu::ForeignProcesses("/proc", *pids, server.identity().pid)) {
      if (DrawsTheScreen(process)) continue;
      const std::string text = fmt::format("{} {}", process.pid, process.command);
      auto& all = record_.foreign_processes;
      if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(text);
    }
  }

  Status ReadLog(const std::string& log) {
    record_.facts.merge(FactsOf(props_, server::ParseLog(log)));
    if (!record_.completion) return {};
    for (const std::string& pattern : planned_.variant->expect_log) {
      const auto engaged = HasLine(log, pattern, bench_.stop);
      if (!engaged) return Fail(engaged.error());
      if (*engaged) continue;
      Object("log_lacks",
             fmt::format("no line of the server's log matches \"{}\": what the variant "
                         "is about did not engage",
                         pattern));
    }
    return {};
  }

  const Spec& spec_;
  const std::string& prompt_;
  const PlannedTrial& planned_;
  Bench& bench_;
  TrialRecord record_;
  server::Props props_;
};

}  // namespace

bool DrawsTheScreen(const gpu::Process& process) {
  constexpr std::array<std::string_view, 9> kDisplay = {
      "Xorg", "Xwayland", "gnome-shell", "kwin_wayland",   "kwin_x11",
      "sway", "weston",   "plasmashell", "gnome-remote-de"};
  return std::find(kDisplay.begin(), kDisplay.end(), process.command) != kDisplay.end();
}

server::LaunchOptions LaunchOf(const Spec& spec, const experiment::Variant& variant,
                               std::uint16_t port, const std::string& slots) {
  server::LaunchOptions launch;
  launch.binary = variant.binary;
  launch.model = variant.model;
  launch.arguments = variant.ServerArguments();
  // Newer builds name devices, layers and cache sizes at this level only; they print nothing per
  // token there.
  if (!Uses(Option::kVerbosity, launch.arguments)) {
    launch.arguments.insert(launch.arguments.end(), {"-lv", "4"});
  }
  if (spec.workload.cache_prompt && !Uses(Option::kSlotFiles, launch.arguments)) {
    launch.arguments.insert(launch.arguments.end(), {"--slot-save-path", slots});
  }
  launch.environment = variant.environment;
  launch.working_directory = variant.working_directory.value_or("");
  launch.port = port;
  return launch;
}

collect::Subject SubjectOf(const server::LaunchOptions& launch) {
  return {.binary = server::ProgramPath(launch),
          .environment = server::ServerEnvironment(launch, sys::OwnEnvironment())};
}

Result<TrialRecord> RunTrial(const Spec& spec, const std::string& prompt,
                             const PlannedTrial& planned, Bench& bench) {
  return OneTrial(spec, prompt, planned, bench).Run();
}

}  // namespace culprit::lab
