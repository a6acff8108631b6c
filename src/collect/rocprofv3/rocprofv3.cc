#include "collect/rocprofv3/rocprofv3.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/number_format.h"
#include "base/printable.h"
#include "collect/registry.h"
#include "collect/rocprofv3/tool.h"
#include "collect/rocprofv3/verify.h"
#include "collect/rocprofv3/watch.h"
#include "sys/process_group.h"

namespace culprit::collect::rocprofv3 {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::Fail;
using base::Result;
using std::chrono::seconds;

// What a user may have exported for the tool, and what would leave dispatches out of a trace or
// make its kernels run one by one.
constexpr const char* kHarmful[] = {"ROCPROF_MINIMUM_OUTPUT_BYTES", "ROCPROF_COLLECTION_PERIOD",
                                    "ROCPROF_SELECTED_REGIONS", "ROCPROF_COUNTERS"};

constexpr const char* kAvailable =
    "rocprofv3-avail list --pmc, or rocprofv3 --list-avail, names what this GPU can count";

std::string_view Text(Evidence evidence) {
  switch (evidence) {
    case Evidence::kNone:
      return "";
    case Evidence::kSaid:
      return "the tool said that it was done";
    case Evidence::kClosed:
      return "nobody had the file open any more";
    case Evidence::kStill:
      return "nothing was written any more";
    case Evidence::kLeft:
      return "the server left by itself";
  }
  return "";
}

class Rocprofv3 : public Collector {
 public:
  Rocprofv3(Pass pass, sys::Environment environment, Limits limits)
      : pass_(std::move(pass)), environment_(std::move(environment)), limits_(limits) {}

  [[nodiscard]] std::string_view name() const override {
    return pass_.counts() ? kCounters : kRocprofv3;
  }
  [[nodiscard]] std::string Suspicion() const override;
  [[nodiscard]] base::Status Check(const Subject& subject,
                                   const sys::StopSignal& stop) const override;
  Result<Launch> Prepare(const Subject& subject, const Place& place,
                         const sys::StopSignal& stop) override;
  Result<Collected> Finish(sys::Process& server, const RequestTimes& request,
                           const sys::StopSignal& stop) override;

 private:
  // What there is to say in the end.
  struct End {
    State state;
    Observation seen;
    Files files;
    std::size_t killed = 0;  // processes
    std::size_t left = 0;    // processes that would not go
  };
  [[nodiscard]] End Drive(sys::Process& server, const RequestTimes& request,
                          const sys::StopSignal& stop) const;
  [[nodiscard]] Result<Collected> Report(const End& end) const;
  // Course is how the trace was asked for, Ending how the server ended once it was safe.
  [[nodiscard]] std::string Course(const End& end) const;
  [[nodiscard]] static std::string Ending(const End& end);
  [[nodiscard]] std::string Hint(const End& end) const;
  [[nodiscard]] std::string Advice(const Verdict& verdict) const;
  [[nodiscard]] std::string Uncounted(const End& end) const;
  [[nodiscard]] std::string Relative(const std::string& path) const;

  Pass pass_;
  sys::Environment environment_;
  Limits limits_;
  Tool tool_;
  Places places_;
};

base::Status Rocprofv3::Check(const Subject& /*subject*/, const sys::StopSignal& stop) const {
  if (auto tool = FindTool(environment_, pass_, stop); !tool) return Fail(tool.error());
  return {};
}

Result<Launch> Rocprofv3::Prepare(const Subject& /*subject*/, const Place& place,
                                  const sys::StopSignal& stop) {
  auto tool = FindTool(environment_, pass_, stop);
  if (!tool) return Fail(std::move(tool.error()));
  tool_ = *std::move(tool);
  std::error_code error;
  // The tool runs where the server does, and the kernel names open files by their real paths.
  const fs::path trial = fs::canonical(place.folder, error);
  if (error) return Fail(ErrorCode::kUnreadable, error.message(), place.folder);
  if (trial.string().find_first_of("%{") != std::string::npos) {
    return Fail(ErrorCode::kEnvironment, "rocprofv3 takes % and { in a path for its own", trial,
                "choose a folder without them");
  }
  places_ = {.traces = trial / "rocprofv3",
             .spill = trial / "rocprofv3-spill",
             .log = place.log_file,
             .pass = pass_};
  for (const std::string& folder : {places_.traces, places_.spill}) {
    // A file of the same name would be removed by the tool.
    if (fs::create_directory(folder, error) && !error) continue;
    return Fail(ErrorCode::kUnreadable, error ? error.message() : "is there already", folder,
                "a trace needs a trial of its own");
  }
  Launch launch{.wrapper = WrapperOf(tool_, places_.traces, pass_),
                .environment = {{"ROCPROF_TMPDIR", places_.spill}}};
  for (const char* variable : kHarmful) launch.environment.push_back({variable, std::nullopt});
  return launch;
}

Rocprofv3::End Rocprofv3::Drive(sys::Process& server, const RequestTimes& request,
                                const sys::StopSignal& stop) const {
  Watch watch(places_, server);
  State state{.clean = tool_.Has(kOwnHandlers)};
  std::optional<Verdict> verdict;
  while (true) {
    Observation seen = watch.Look(stop);
    seen.verdict = verdict;
    auto [next, action] = Next(std::move(state), seen, limits_);
    state = std::move(next);
    switch (action) {
      case Action::kWait:
        server.WaitFor(limits_.between_looks, stop);
        break;
      case Action::kTerminate:
        watch.Signal(SIGTERM);
        break;
      case Action::kAskTool:
        watch.Signal(SIGQUIT);
        break;
      case Action::kTerminateChildren:
        watch.SignalChildren(SIGTERM);
        break;
      case Action::kKillChildren:
        watch.SignalChildren(SIGKILL);
        break;
      case Action::kVerify:
        verdict = watch.files().trace.empty()
                      ? Verdict{Verdict::Kind::kAbsent, "there is no trace of the server's process"}
                      : Verify(watch.files().trace, request, pass_);
        break;
      case Action::kKill: {
        // The only place that ends the server.
        CULPRIT_CHECK(state.phase == Phase::kSafe || state.phase == Phase::kLost ||
                      state.phase == Phase::kInterrupted);
        const std::size_t killed = sys::MembersOf(watch.group()).size();
        const auto left = sys::KillGroup(watch.group(), seconds(5));
        return {std::move(state), std::move(seen), watch.files(), killed, left.size()};
      }
    }
  }
}

std::string Rocprofv3::Relative(const std::string& path) const {
  return fs::path(path).lexically_relative(fs::path(places_.traces).parent_path());
}

std::string Rocprofv3::Course(const End& end) const {
  const Marks& marks = end.seen.marks;
  std::string text = "rocprofv3";
  if (!tool_.version.empty()) text += " of ROCm " + tool_.version;
  if (!end.state.terminated) {
    text += "; no signal was needed";
  } else if (end.state.asked_tool) {
    text += "; SIGTERM brought nothing, SIGQUIT went to the tool's handler";
  } else if (marks.handler) {
    text += "; SIGTERM went to the tool's handler";
  } else if (marks.own_stop || marks.returned) {
    text += "; SIGTERM, and the server's own stop";
  } else {
    text += "; SIGTERM";
  }
  return text;
}

std::string Rocprofv3::Ending(const End& end) {
  std::string text(Text(end.state.evidence));
  if (end.killed > 0) {
    text += fmt::format("; {} {} killed", end.killed,
                        end.killed == 1 ? "process was" : "processes were");
  }
  if (end.left > 0) text += fmt::format("; {} would not go", end.left);
  return text;
}

std::string Rocprofv3::Hint(const End& end) const {
  const std::string kept = "everything was kept in " + base::Printable(places_.traces) + "; ";
  const std::string log = "; its log is " + base::Printable(places_.log);
  if (end.seen.marks.failed) return kept + "make room on the disk and trace again";
  if (!end.seen.verdict) {
    return kept + "the tool is known to hang when it ends a server: " +
           (pass_.counts() ? "count again, with another ROCm"
                           : "trace again, with another ROCm, or with another collector") +
           log;
  }
  return kept + Advice(*end.seen.verdict) + log;
}

std::string Rocprofv3::Advice(const Verdict& verdict) const {
  const std::string again = pass_.counts() ? "count again" : "trace again";
  switch (verdict.kind) {
    case Verdict::Kind::kAbsent:
    case Verdict::Kind::kEmpty:
      if (pass_.counts())
        return std::string("the tool writes nothing when it can count nothing: ") + kAvailable;
      return "the tool writes nothing when it sees no kernel: does the server run on an AMD GPU "
             "(-ngl), in a build for ROCm?";
    case Verdict::Kind::kGaps:
    case Verdict::Kind::kUncovered:
      return again + " with fewer tokens, with GGML_CUDA_DISABLE_GRAPHS=1, or with another ROCm";
    default:
      return again + " with fewer tokens, which takes less to write";
  }
}

std::string Rocprofv3::Suspicion() const {
  if (!pass_.counts()) return "";
  return std::string(
             "counters that do not fit one pass end a server at its first kernel: ask for "
             "fewer at a time; ") +
         kAvailable +
         "; on gfx1151 every --pmc is known to crash before ROCm 7.2, and was seen to in 7.2.0";
}

// What was asked for and is not in the file. Names may say of which device: SQ_WAVES:device=0.
std::string Rocprofv3::Uncounted(const End& end) const {
  std::string names;
  for (const std::string& counter : pass_.counters) {
    if (end.seen.verdict->counters.contains(counter.substr(0, counter.find(':')))) continue;
    names += (names.empty() ? "" : ", ") + counter;
  }
  if (names.empty()) return "";
  const std::string& said = end.seen.marks.uncounted;
  return fmt::format("nothing was counted of {}{}; {}", names,
                     said.empty() ? "" : " (the tool said: " + said + ")", kAvailable);
}

Result<Collected> Rocprofv3::Report(const End& end) const {
  if (end.state.phase == Phase::kInterrupted) return Fail(sys::Interrupted());
  if (end.state.phase == Phase::kLost) {
    const bool there = !end.files.trace.empty();
    const std::string& said = end.seen.marks.uncounted;
    return Fail(
        there ? ErrorCode::kDamagedTrace : ErrorCode::kNotATrace,
        fmt::format("the {} lost: {} ({}{})", pass_.counts() ? "counters are" : "trace is",
                    end.state.why, Course(end), said.empty() ? "" : "; the tool said: " + said),
        there ? Relative(end.files.trace) : "", Hint(end));
  }
  Collected collected{.file = Relative(end.files.trace),
                      .bytes = end.files.trace_bytes,
                      .flush = end.state.progressed - end.state.asked,
                      .how = fmt::format("{}; {}", Course(end), Ending(end))};
  for (const std::string& other : end.files.others) collected.others.push_back(Relative(other));
  if (!collected.others.empty()) {
    collected.notes.push_back(
        "processes that the server started wrote traces of their own, which "
        "may be incomplete");
  }
  if (end.state.children_terminated) {
    collected.notes.push_back(
        "the tool waited for processes that the server had started; they "
        "were ended");
  }
  if (std::string lacks = Uncounted(end); !lacks.empty()) {
    collected.notes.push_back(std::move(lacks));
  }
  std::error_code ignored;
  fs::remove_all(places_.spill, ignored);
  return collected;
}

Result<Collected> Rocprofv3::Finish(sys::Process& server, const RequestTimes& request,
                                    const sys::StopSignal& stop) {
  End end = Drive(server, request, stop);
  // How it ended is known before anybody asks.
  const sys::StopSignal never;
  server.WaitFor(seconds(5), never);
  return Report(end);
}

}  // namespace

std::unique_ptr<Collector> MakeCollector(Pass pass, sys::Environment environment, Limits limits) {
  return std::make_unique<Rocprofv3>(std::move(pass), std::move(environment), limits);
}

}  // namespace culprit::collect::rocprofv3
