#include "trace/ggml_ops/ggml_ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <ctime>
#include <map>
#include <string>
#include <vector>

#include "inject/wire/ggml_ops.h"
#include "trace/builder.h"
#include "trace/ggml_ops/op_name.h"
#include "trace/ggml_ops/record_stream.h"

namespace culprit::trace::ggml_ops {
namespace {

using base::ErrorCode;
using base::Fail;
using base::Finding;
using base::Result;
using Record = culprit_ops_record;

constexpr std::string_view kMagic(CULPRIT_OPS_MAGIC, 8);

NamedClock ClockOf(std::uint32_t number) {
  switch (number) {
    case CLOCK_BOOTTIME:
      return NamedClock::kBoottime;
    case CLOCK_MONOTONIC:
      return NamedClock::kMonotonic;
    case CLOCK_REALTIME:
      return NamedClock::kRealtime;
    default:
      return NamedClock::kUnknown;
  }
}

// Definition is what a node's record means.
struct Definition {
  KernelId kernel;
  LaneId lane;
  Layer layer;
};

// Scheduler is one of the process. dropped counts, so far, what it could not record.
struct Scheduler {
  std::vector<Definition> definitions;
  std::int64_t dropped = 0;
};

// OpsReader turns the records of one file into a Trace.
class OpsReader {
 public:
  OpsReader(const culprit_ops_header& header, const std::string& path)
      : pid_(header.pid), builder_("ggml ops", path) {
    builder_.trace().clock = ClockOf(header.clock);
    unknown_shape_ = builder_.AddGeometry({});
  }

  base::Status ReadAll(RecordStream& stream);
  Result<Trace> Finish() &&;

 private:
  // Step returns false where nothing can be read any more.
  Result<bool> Step(const Record& record, RecordStream& stream);
  void BeginChunk(const Record& record);
  Result<bool> Define(const Record& record, RecordStream& stream);
  void AddNode(const Record& record);
  void Malformed(std::string_view what) {
    builder_.diagnostics().Add(Finding::kMalformedRow, 1, fmt::format("at byte {}: {}", at_, what));
  }

  std::int64_t pid_;
  TraceBuilder builder_;
  GeometryId unknown_shape_;
  std::map<std::string, std::int64_t, std::less<>> backends_;  // by name, numbered
  std::map<std::uint32_t, Scheduler> schedulers_;
  Scheduler* current_ = nullptr;
  std::uint32_t current_number_ = 0;
  std::int64_t at_ = 0;
  std::int64_t nodes_ = 0;
  std::optional<Record> end_;
};

base::Status OpsReader::ReadAll(RecordStream& stream) {
  for (;;) {
    Record record;
    at_ = stream.offset();
    auto more = stream.Take(&record, sizeof record);
    if (more && *more) more = Step(record, stream);
    if (!more && more.error().code != ErrorCode::kDamagedTrace) return Fail(more.error());
    if (!more) builder_.diagnostics().Add(Finding::kTruncatedFile, 1, more.error().message);
    if (more && *more) continue;
    if (stream.torn()) builder_.diagnostics().Add(Finding::kTornTail, 1);
    return {};
  }
}

Result<bool> OpsReader::Step(const Record& record, RecordStream& stream) {
  switch (record.kind) {
    case CULPRIT_OPS_NODE:
      AddNode(record);
      return true;
    case CULPRIT_OPS_GRAPH:
      return true;
    case CULPRIT_OPS_DEFINITION:
      return Define(record, stream);
    case CULPRIT_OPS_CHUNK:
      BeginChunk(record);
      return true;
    case CULPRIT_OPS_END:
      if (end_) Malformed("a second end");
      end_ = record;
      return true;
    default:
      Malformed("a record of no known kind");
      return true;
  }
}

void OpsReader::BeginChunk(const Record& record) {
  constexpr std::size_t kMostSchedulers = 4096;
  current_ = nullptr;
  if (schedulers_.size() == kMostSchedulers && !schedulers_.contains(record.id)) {
    Malformed("a chunk of one scheduler too many");
    return;
  }
  current_ = &schedulers_[record.id];
  current_number_ = record.id;
  if (record.end < current_->dropped) Malformed("a count of dropped records that shrinks");
  current_->dropped = std::max(current_->dropped, record.end);
}

Result<bool> OpsReader::Define(const Record& record, RecordStream& stream) {
  constexpr std::int64_t kMostBytes = 1 << 16;
  culprit_ops_definition body;
  if (record.begin < static_cast<std::int64_t>(sizeof body) || record.begin > kMostBytes) {
    Malformed("a definition of an impossible length: what follows is not read");
    return false;
  }
  auto more = stream.Take(&body, sizeof body);
  if (more && *more) {
    more = stream.Skip(static_cast<std::size_t>(record.begin) - sizeof body);
  }
  if (!more || !*more) return more;
  if (current_ != nullptr && record.id == 0) current_->definitions.clear();
  if (current_ == nullptr || record.id != current_->definitions.size()) {
    Malformed("a definition out of order");
    return true;
  }
  const OpName name = NameOf(body);
  const std::string backend(body.backend, ::strnlen(body.backend, sizeof body.backend));
  const auto device =
      backends_.try_emplace(backend, static_cast<std::int64_t>(backends_.size())).first->second;
  builder_.AddDevice(device, backend);
  current_->definitions.push_back({builder_.AddKernel(name.text),
                                   builder_.AddLane(device, current_number_, std::nullopt, pid_),
                                   name.layer});
  return true;
}

void OpsReader::AddNode(const Record& record) {
  if (current_ == nullptr || record.id >= current_->definitions.size()) {
    Malformed("a node without a definition");
    return;
  }
  const Definition& definition = current_->definitions[record.id];
  builder_.AddDispatch(record.begin, record.end, definition.kernel, unknown_shape_, definition.lane,
                       definition.layer);
  ++nodes_;
}

Result<Trace> OpsReader::Finish() && {
  auto& diagnostics = builder_.diagnostics();
  for (const auto& [number, scheduler] : schedulers_) {
    diagnostics.Add(Finding::kDroppedRecords, scheduler.dropped);
  }
  if (!end_) {
    diagnostics.Add(Finding::kNoEnd);
  } else if (end_->end != nodes_) {
    diagnostics.Add(Finding::kDroppedRecords, 1,
                    fmt::format("its end tells of {} nodes, {} were read", end_->end, nodes_));
  }
  if (end_ && end_->id != 0) {
    diagnostics.Add(Finding::kNoEnd, 1, fmt::format("signal {}", end_->id));
  }
  return std::move(builder_).Finish();
}

}  // namespace

Verdict Sniff(const sys::Source& source) {
  const std::string_view head = source.head();
  if (!head.starts_with(kMagic)) return NotMine{};
  culprit_ops_header header{};
  std::memcpy(&header, head.data(), std::min(head.size(), sizeof header));
  if (head.size() < sizeof header || header.version == CULPRIT_OPS_VERSION) return Mine{};
  return Refused{{ErrorCode::kUnsupportedTrace,
                  fmt::format("is a file of ggml ops of version {}; version {} is known",
                              header.version, CULPRIT_OPS_VERSION),
                  {},
                  "read it with the culprit that took it"}};
}

Result<Trace> Read(const sys::Source& source, const ReadOptions& /*options*/) {
  auto bytes = source.Stream();
  if (!bytes) return Fail(std::move(bytes.error()));
  RecordStream stream(*std::move(bytes));
  culprit_ops_header header;
  auto more = stream.Take(&header, sizeof header);
  const bool whole = more && *more && header.header_bytes >= sizeof header;
  if (whole) more = stream.Skip(header.header_bytes - sizeof header);
  if (!more && more.error().code != ErrorCode::kDamagedTrace) return Fail(more.error());
  if (!whole || !more || !*more) {
    return Fail(ErrorCode::kDamagedTrace, "the file breaks off in its header", source.path(),
                "trace again, or copy the file again");
  }
  OpsReader reader(header, source.path());
  if (auto read = reader.ReadAll(stream); !read) {
    return Fail(std::move(read.error()).In(source.path()));
  }
  return std::move(reader).Finish();
}

}  // namespace culprit::trace::ggml_ops
