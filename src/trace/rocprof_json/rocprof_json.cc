#include "trace/rocprof_json/rocprof_json.h"

#include <fmt/format.h>

#include <array>
#include <utility>
#include <vector>

#include "sys/json_stream.h"
#include "trace/rocprof_json/process.h"

namespace culprit::trace::rocprof_json {
namespace {

using base::ErrorCode;
using base::Fail;
using base::Finding;
using sys::JsonPath;
using sys::JsonScalar;

// What stands at a path: a Field of a record, or one of these.
enum Path : int {
  kProcess = kFieldCount,
  kPid,
  kAgentInfo,
  kAgentHandle,
  kAgentNode,
  kAgentType,
  kAgentName,
  kKindInfo,
  kOperationName,
  kSymbol,
  kSymbolId,
  kSymbolMangled,
  kSymbolDemangled,
  kDispatch,
  kCopy,
  kHipCall,
  kCounters,
  kSkipped,  // kSkipped + i: a record of kSkippedRecords[i]
};

constexpr std::array kSkippedRecords = {"hsa_api", "marker_api", "rccl_api", "memory_allocation",
                                        "scratch_memory"};

// {"size":184,"kind":11,"operation":2,"thread_id":908,"correlation_id":{"internal":1,"external":0},
//  "start_timestamp":63857982592000,"end_timestamp":63857982594840,"dispatch_info":{"size":72,
//  "agent_id":{"handle":37946},"queue_id":{"handle":16},"kernel_id":8,"dispatch_id":1,…,
//  "workgroup_size":{"x":512,"y":1,"z":1},"grid_size":{"x":512,"y":1,"z":1}},
//  "stream_id":{"handle":0}}
// ROCm 6.x has no stream_id. A memory_copy has dst_agent_id and src_agent_id, no dispatch_info.
std::vector<JsonPath> AllPaths() {
  std::vector<JsonPath> paths = {{"rocprofiler-sdk-tool[]", kProcess}};
  sys::AddBelow("rocprofiler-sdk-tool[].",
                {{"metadata.pid", kPid},
                 {"agents[]", kAgentInfo},
                 {"agents[].id.handle", kAgentHandle},
                 {"agents[].node_id", kAgentNode},
                 {"agents[].type", kAgentType},
                 {"agents[].name", kAgentName},
                 {"strings.buffer_records[]", kKindInfo},
                 {"strings.buffer_records[].operations[]", kOperationName},
                 {"kernel_symbols[]", kSymbol},
                 {"kernel_symbols[].kernel_id", kSymbolId},
                 {"kernel_symbols[].kernel_name", kSymbolMangled},
                 {"kernel_symbols[].demangled_kernel_name", kSymbolDemangled},
                 {"callback_records.counter_collection[]", kCounters}},
                paths);
  sys::AddBelow("rocprofiler-sdk-tool[].buffer_records.",
                {{"kernel_dispatch[]", kDispatch},
                 {"memory_copy[]", kCopy},
                 {"hip_api[]", kHipCall},
                 {"counter_collection[]", kCounters}},
                paths);
  for (std::size_t i = 0; i < kSkippedRecords.size(); ++i) {
    paths.push_back({fmt::format("rocprofiler-sdk-tool[].buffer_records.{}[]", kSkippedRecords[i]),
                     kSkipped + static_cast<int>(i)});
  }
  for (const char* records : {"kernel_dispatch", "memory_copy", "hip_api"}) {
    sys::AddBelow(fmt::format("rocprofiler-sdk-tool[].buffer_records.{}[].", records),
                  {{"start_timestamp", kStart},
                   {"end_timestamp", kEnd},
                   {"kind", kKind},
                   {"operation", kOperation},
                   {"stream_id.handle", kStream},
                   {"dst_agent_id.handle", kAgent},
                   {"src_agent_id.handle", kOtherAgent}},
                  paths);
  }
  sys::AddBelow("rocprofiler-sdk-tool[].buffer_records.kernel_dispatch[].dispatch_info.",
                {{"agent_id.handle", kAgent},
                 {"queue_id.handle", kQueue},
                 {"kernel_id", kKernel},
                 {"dispatch_id", kDispatchId},
                 {"grid_size.x", kGridX},
                 {"grid_size.y", kGridY},
                 {"grid_size.z", kGridZ},
                 {"workgroup_size.x", kBlockX},
                 {"workgroup_size.y", kBlockY},
                 {"workgroup_size.z", kBlockZ}},
                paths);
  return paths;
}

class Events final : public sys::JsonEvents {
 public:
  Events(TraceBuilder& builder, const ReadOptions& options)
      : builder_(builder), options_(options) {}

  void Begin(int path) override;
  void End(int path) override;
  void Value(int path, const JsonScalar& value) override;

  // FinishProcess takes in what was read of a process: all of it, or less of a torn file.
  void FinishProcess();

  [[nodiscard]] std::int64_t processes_read() const { return processes_read_; }
  [[nodiscard]] const std::string& pids() const { return pids_; }
  [[nodiscard]] bool has_counters() const { return has_counters_; }

 private:
  // Each is where a value of its kind belongs; null when the path has none.
  std::string* TextAt(int path);
  std::optional<std::int64_t>* IntegerAt(int path);
  void CountSkipped(std::string_view what);
  void CountMalformed(bool good, std::string_view what);

  TraceBuilder& builder_;
  const ReadOptions& options_;
  Process process_;
  Record record_;
  Agent agent_;
  Symbol symbol_;
  std::int64_t processes_read_ = 0;
  std::string pids_;  // of all processes with work, for messages
  bool has_counters_ = false;
};

void Events::Begin(int path) {
  switch (path) {
    case kProcess:
      process_ = {};
      break;
    case kAgentInfo:
      agent_ = {};
      break;
    case kSymbol:
      symbol_ = {};
      break;
    case kKindInfo:
      process_.AddKind();
      break;
    case kDispatch:
    case kCopy:
    case kHipCall:
      record_ = {};
      break;
    case kCounters:
      has_counters_ = true;
      return CountSkipped("counter_collection");
    default:
      if (path >= kSkipped)
        CountSkipped(kSkippedRecords[static_cast<std::size_t>(path - kSkipped)]);
  }
}

void Events::End(int path) {
  switch (path) {
    case kProcess:
      return FinishProcess();
    case kAgentInfo:
      return process_.AddAgent(agent_);
    case kSymbol:
      return process_.AddSymbol(std::move(symbol_));
    case kDispatch:
      return CountMalformed(process_.AddDispatch(record_, builder_), "kernel_dispatch");
    case kCopy:
      return CountMalformed(process_.AddCopy(record_), "memory_copy");
    case kHipCall:
      return CountMalformed(process_.AddHipCall(record_), "hip_api");
    default:
      return;
  }
}

std::string* Events::TextAt(int path) {
  switch (path) {
    case kAgentName:
      return &agent_.name;
    case kSymbolMangled:
      return &symbol_.mangled;
    case kSymbolDemangled:
      return &symbol_.demangled;
    default:
      return nullptr;
  }
}

std::optional<std::int64_t>* Events::IntegerAt(int path) {
  if (path < kFieldCount) return &record_[static_cast<std::size_t>(path)];
  switch (path) {
    case kPid:
      return &process_.pid;
    case kAgentHandle:
      return &agent_.handle;
    case kAgentNode:
      return &agent_.node;
    case kAgentType:
      return &agent_.type;
    case kSymbolId:
      return &symbol_.id;
    default:
      return nullptr;
  }
}

void Events::Value(int path, const JsonScalar& value) {
  if (auto* integer = IntegerAt(path)) {
    *integer = value.Integer();
    return;
  }
  const std::string_view text = value.String().value_or("");
  if (std::string* target = TextAt(path)) *target = text;
  if (path == kKindInfo) process_.AddKind();
  if (path == kOperationName) process_.AddOperation(text);
  if (path == kDispatch || path == kCopy || path == kHipCall) {
    CountMalformed(false, "a record that is no object");
  }
}

void Events::CountSkipped(std::string_view what) {
  builder_.diagnostics().Add(Finding::kUnsupportedRecords, 1, what);
}

void Events::CountMalformed(bool good, std::string_view what) {
  if (!good) builder_.diagnostics().Add(Finding::kMalformedRow, 1, what);
}

void Events::FinishProcess() {
  Process process = std::exchange(process_, {});
  if (!process.HasWork()) return;
  const std::string pid = process.pid ? fmt::format("{}", *process.pid) : "unknown";
  if (pids_.size() < 100) pids_ += (pids_.empty() ? "" : ", ") + pid;
  if (options_.process && options_.process != process.pid) return;
  ++processes_read_;
  std::move(process).MoveTo(builder_);
}

// NothingRead is why a whole document gave no dispatch; nullopt when the builder can say it.
std::optional<base::Error> NothingRead(const Events& events, const ReadOptions& options,
                                       const sys::JsonEnd& end, const std::string& path) {
  if (end.torn) {
    return base::Error{ErrorCode::kDamagedTrace,
                       fmt::format("breaks off at byte {}, before any dispatch was read whole: {}",
                                   end.bytes, end.why),
                       path, "trace again and let the profiler finish writing"};
  }
  if (options.process && !events.pids().empty()) {
    return base::Error{ErrorCode::kUsage,
                       fmt::format("holds no dispatch of process {}", *options.process), path,
                       "it holds those of " + events.pids()};
  }
  if (events.has_counters()) {
    return base::Error{ErrorCode::kUnsupportedTrace,
                       "is a counter collection of rocprofv3, without a kernel trace", path,
                       "trace with --kernel-trace and without --pmc"};
  }
  return std::nullopt;
}

}  // namespace

Verdict Sniff(const sys::Source& source) {
  const std::size_t first = source.head().find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || source.head()[first] != '{') return NotMine{};
  // The only key of the document; found in the head, which ends somewhere inside.
  class Root final : public sys::JsonEvents {
   public:
    void Begin(int) override { found = true; }
    void Value(int, const JsonScalar&) override {}
    bool found = false;
  } root;
  const auto head = sys::Source::FromMemory(source.path(), std::string(source.head())).Stream();
  const std::vector<JsonPath> paths = {{"rocprofiler-sdk-tool", 0}};
  if (head) static_cast<void>(sys::ParseJson(**head, paths, root));
  return root.found ? Verdict(Mine{}) : Verdict(NotMine{});
}

base::Result<Trace> Read(const sys::Source& source, const ReadOptions& options) {
  auto stream = source.Stream();
  if (!stream) return Fail(std::move(stream.error()));
  TraceBuilder builder(std::string(kReader.name), source.path());
  builder.trace().clock = NamedClock::kBoottime;
  Events events(builder, options);
  auto end = sys::ParseJson(**stream, AllPaths(), events);
  if (!end) return Fail(std::move(end.error()).In(source.path()));
  if (end->torn) {
    events.FinishProcess();
    builder.diagnostics().Add(Finding::kTornTail, 1, fmt::format("at byte {}", end->bytes));
  }
  if (events.processes_read() == 0) {
    if (auto error = NothingRead(events, options, *end, source.path())) return Fail(*error);
  }
  if (events.processes_read() > 1) {
    builder.diagnostics().Add(Finding::kSeveralProcesses, events.processes_read(), events.pids());
  }
  return std::move(builder).Finish();
}

}  // namespace culprit::trace::rocprof_json
