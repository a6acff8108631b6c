#include "trace/chrome/chrome.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "sys/json_stream.h"
#include "trace/chrome/recording.h"

namespace culprit::trace::chrome {
namespace {

using base::ErrorCode;
using base::Fail;
using base::Finding;
using sys::JsonPath;
using sys::JsonScalar;

enum Path : int {
  kEvent,
  kPhase,
  kCategory,
  kName,
  kProcess,
  kThread,
  kStart,
  kDuration,
  kArgDevice,
  kArgQueue,
  kArgStream,
  kArgCorrelation,
  kArgGrid,
  kArgBlock,
  kDevice,
  kDeviceNumber,
  kDeviceName,
  kBaseTime,
};

// {"ph":"X","cat":"kernel","name":"attn_fwd","pid":2,"tid":0,"ts":6520618861901.761,"dur":4.439,
//  "args":{"External id":1479603,"device":2,"stream":0,"correlation":505111,
//  "kind":"Dispatch Kernel","grid":[1,1,1],"block":[256,1,1]}}
std::vector<JsonPath> AllPaths() {
  std::vector<JsonPath> paths = {{"deviceProperties[]", kDevice},
                                 {"deviceProperties[].id", kDeviceNumber},
                                 {"deviceProperties[].name", kDeviceName},
                                 {"baseTimeNanoseconds", kBaseTime}};
  for (const char* event : {"traceEvents[]", "[]"}) {
    sys::AddBelow(event,
                  {{"", kEvent},
                   {".ph", kPhase},
                   {".cat", kCategory},
                   {".name", kName},
                   {".pid", kProcess},
                   {".tid", kThread},
                   {".ts", kStart},
                   {".dur", kDuration},
                   {".args.device", kArgDevice},
                   {".args.queue", kArgQueue},
                   {".args.stream", kArgStream},
                   {".args.correlation", kArgCorrelation},
                   {".args.grid[]", kArgGrid},
                   {".args.block[]", kArgBlock}},
                  paths);
  }
  return paths;
}

class Events final : public sys::JsonEvents {
 public:
  explicit Events(Recording& recording) : recording_(recording) {}

  void Begin(int path) override {
    if (path == kEvent) event_ = {};
    if (path == kDevice) device_number_ = std::nullopt, device_name_.clear();
  }

  void End(int path) override {
    if (path == kEvent) recording_.Add(event_);
    if (path == kDevice && device_number_) {
      recording_.NameDevice(*device_number_, std::move(device_name_));
    }
  }

  void Value(int path, const JsonScalar& value) override;

 private:
  // Each is where a value of its kind belongs; null when the path has none.
  std::string* TextAt(int path);
  std::optional<std::int64_t>* IntegerAt(int path);

  Recording& recording_;
  Event event_;
  std::optional<std::int64_t> device_number_;
  std::string device_name_;
};

std::string* Events::TextAt(int path) {
  switch (path) {
    case kPhase:
      return &event_.phase;
    case kCategory:
      return &event_.category;
    case kName:
      return &event_.name;
    case kDeviceName:
      return &device_name_;
    default:
      return nullptr;
  }
}

std::optional<std::int64_t>* Events::IntegerAt(int path) {
  switch (path) {
    case kProcess:
      return &event_.process;
    case kThread:
      return &event_.thread;
    case kArgDevice:
      return &event_.device;
    case kArgQueue:
      return &event_.queue;
    case kArgStream:
      return &event_.stream;
    case kArgCorrelation:
      return &event_.correlation;
    case kDeviceNumber:
      return &device_number_;
    default:
      return nullptr;
  }
}

void Events::Value(int path, const JsonScalar& value) {
  if (std::string* text = TextAt(path)) *text = value.String().value_or("");
  if (auto* integer = IntegerAt(path)) *integer = value.Integer();
  if (path == kStart) event_.start = value.Thousandths();
  if (path == kDuration) event_.duration = value.Thousandths();
  if (path == kBaseTime) recording_.SetBase(value.Integer());
  if (path != kArgGrid && path != kArgBlock) return;
  std::vector<std::int64_t>& sizes = path == kArgGrid ? event_.grid : event_.block;
  if (sizes.size() < 4) sizes.push_back(value.Integer().value_or(0));
}

// Outline is what a JSON document shows on its outside.
class Outline final : public sys::JsonEvents {
 public:
  enum Path : int { kTraceEvents, kPhaseOfElement, kSchema, kTimings };

  static std::vector<JsonPath> Paths() {
    return {{"traceEvents", kTraceEvents},
            {"[].ph", kPhaseOfElement},
            {"schema", kSchema},
            {"timings", kTimings}};
  }
  void Begin(int path) override {
    trace |= path == kTraceEvents;
    answer |= path == kTimings;
  }
  void Value(int path, const JsonScalar& value) override {
    trace |= path == kPhaseOfElement;
    report |= path == kSchema && value.String().value_or("").starts_with("culprit");
  }

  bool trace = false;   // events in an object or in a bare array
  bool report = false;  // written by culprit
  bool answer = false;  // of a llama-server
};

base::Error NoTrace(const Outline& outline, const sys::JsonEnd& end, bool array) {
  const auto not_a_trace = [](std::string message, std::string hint) {
    return base::Error{ErrorCode::kNotATrace, std::move(message), "", std::move(hint)};
  };
  if (outline.report) return not_a_trace("is a report of culprit, not a trace", "");
  if (outline.answer) {
    return not_a_trace("is the answer of a llama-server, not a trace",
                       "it goes with a trace: put both into one folder");
  }
  if (end.torn) {
    return not_a_trace(
        fmt::format("is JSON that breaks off at byte {} without having shown a trace", end.bytes),
        "copy the file again");
  }
  const std::string hint = "traces are written by torch.profiler and rocprofv3 -f json";
  if (array) return not_a_trace("is a JSON array without trace events", hint);
  return not_a_trace("is a JSON object without traceEvents or rocprofiler-sdk-tool", hint);
}

base::Result<Trace> HostOnly(const std::string& path, const sys::JsonEnd& end) {
  if (end.torn) {
    return Fail(ErrorCode::kDamagedTrace,
                fmt::format("breaks off at byte {}, before any GPU event was read whole: {}",
                            end.bytes, end.why),
                path, "export the trace again, or copy the file again");
  }
  return Fail(ErrorCode::kUnsupportedTrace,
              "is a Chrome trace of the host alone: it holds no kernel, copy or fill of a GPU",
              path,
              "record with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], on ROCm too");
}

}  // namespace

Verdict Sniff(const sys::Source& source) {
  const std::size_t first = source.head().find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return NotMine{};
  const bool array = source.head()[first] == '[';
  if (!array && source.head()[first] != '{') return NotMine{};
  Outline outline;
  const auto parse = [&outline](const sys::Source& text) -> base::Result<sys::JsonEnd> {
    auto stream = text.Stream();
    if (!stream) return Fail(std::move(stream.error()));
    return sys::ParseJson(**stream, Outline::Paths(), outline);
  };
  auto end = parse(sys::Source::FromMemory(source.path(), std::string(source.head())));
  if (outline.trace) return Mine{};
  // Rarely, long properties stand before the events: then the whole file decides.
  if (end && end->torn) end = parse(source);
  if (outline.trace) return Mine{};
  if (!end) return NotMine{};
  return Refused{NoTrace(outline, *end, array)};
}

base::Result<Trace> Read(const sys::Source& source, const ReadOptions&) {
  auto stream = source.Stream();
  if (!stream) return Fail(std::move(stream.error()));
  TraceBuilder builder(std::string(kReader.name), source.path());
  Recording recording(builder);
  Events events(recording);
  auto end = sys::ParseJson(**stream, AllPaths(), events);
  if (!end) return Fail(std::move(end.error()).In(source.path()));
  if (!recording.HasWork()) return HostOnly(source.path(), *end);
  if (end->torn) {
    builder.diagnostics().Add(Finding::kTornTail, 1, fmt::format("at byte {}", end->bytes));
  }
  std::move(recording).MoveToBuilder();
  return std::move(builder).Finish();
}

}  // namespace culprit::trace::chrome
