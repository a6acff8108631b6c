#include "trace/rocprof_json/process.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "trace/demangle.h"
#include "trace/dispatch_ids.h"

namespace culprit::trace::rocprof_json {
namespace {

using base::Finding;

// What "type" of an agent means.
constexpr std::int64_t kCpu = 1;
constexpr std::int64_t kGpu = 2;
// 146 years: stamps below it can be subtracted and added without a thought.
constexpr std::int64_t kLastStamp = std::int64_t{1} << 62;

// A hostile file could list names of no length until the memory is full. A real one has 33 kinds of
// records, 477 operations of one kind, and 10 agents.
constexpr std::size_t kMostNames = 10'000;

bool HasStamps(const Record& record) {
  const auto plausible = [](const std::optional<std::int64_t>& stamp) {
    return stamp && *stamp >= 0 && *stamp < kLastStamp;
  };
  return plausible(record[kStart]) && plausible(record[kEnd]);
}

Geometry ToGeometry(const Record& record) {
  const auto sizes = [&](std::size_t x) {
    return Sizes{record[x].value_or(0), record[x + 1].value_or(0), record[x + 2].value_or(0)};
  };
  return GridInBlocks(MakeGeometry(sizes(kGridX), sizes(kBlockX)));
}

}  // namespace

void Process::AddKind() {
  if (operation_names_.size() < kMostNames) operation_names_.emplace_back();
}

void Process::AddOperation(std::string_view name) {
  if (operation_names_.empty() || operation_names_.back().size() == kMostNames) return;
  operation_names_.back().emplace_back(name);
}

void Process::AddAgent(const Agent& agent) {
  if (agent.handle && agents_.size() < kMostNames) agents_.insert_or_assign(*agent.handle, agent);
}

// {"kernel_id":8,"kernel_name":"_Z3addPf.kd","formatted_kernel_name":"add(float*)",
//  "demangled_kernel_name":"add(float*) [clone .kd]","truncated_kernel_name":"add.kd"}
// The demangled name is whole even with --truncate-kernels. Id 0 holds the placeholder "0".
void Process::AddSymbol(Symbol symbol) {
  if (!symbol.id || *symbol.id == 0) return;
  std::string name = Demangled(symbol.demangled.empty() ? symbol.mangled : symbol.demangled);
  if (!name.empty()) kernels_.insert_or_assign(*symbol.id, std::move(name));
}

bool Process::AddDispatch(const Record& record, TraceBuilder& builder) {
  if (!HasStamps(record) || !record[kAgent] || !record[kKernel]) return false;
  if (record[kDispatchId].value_or(0) < 0) return false;
  const GeometryId geometry = builder.AddGeometry(ToGeometry(record));
  dispatches_.push_back({*record[kStart], *record[kEnd], *record[kKernel],
                         record[kDispatchId].value_or(-1), geometry, PlaceOf(record)});
  return true;
}

bool Process::AddCopy(const Record& record) {
  if (!HasStamps(record) || !record[kAgent]) return false;
  const Operation operation(record[kKind].value_or(-1), record[kOperation].value_or(-1));
  const auto fresh = static_cast<std::int64_t>(copy_operations_.size());
  const std::int64_t code = copy_operations_.try_emplace(operation, fresh).first->second;
  copies_.push_back({*record[kStart], *record[kEnd], code, -1, GeometryId(), PlaceOf(record)});
  return true;
}

bool Process::AddHipCall(const Record& record) {
  if (!HasStamps(record) || !record[kKind] || !record[kOperation]) return false;
  calls_.push_back({*record[kStart], *record[kEnd], {*record[kKind], *record[kOperation]}});
  return true;
}

std::uint32_t Process::PlaceOf(const Record& record) {
  const auto fresh = static_cast<std::uint32_t>(places_.size());
  const Place place(*record[kAgent], record[kOtherAgent], record[kQueue], record[kStream]);
  PlaceUse& use = places_.try_emplace(place, PlaceUse{fresh, 0}).first->second;
  ++use.records;
  return use.index;
}

std::string Process::OperationName(Operation operation, std::string_view otherwise) const {
  const auto [kind, number] = operation;
  const auto within = [](std::int64_t index, std::size_t size) {
    return index >= 0 && static_cast<std::uint64_t>(index) < size;
  };
  if (within(kind, operation_names_.size())) {
    const auto& names = operation_names_[static_cast<std::size_t>(kind)];
    if (within(number, names.size()) && !names[static_cast<std::size_t>(number)].empty()) {
      return names[static_cast<std::size_t>(number)];
    }
  }
  return fmt::format("{} {}", otherwise, number);
}

const Agent* Process::FindAgent(std::optional<std::int64_t> handle) const {
  const auto it = handle ? agents_.find(*handle) : agents_.end();
  return it == agents_.end() ? nullptr : &it->second;
}

// AddLanes returns the lane of each place; copies from host to host have none. A copy runs on the
// GPU that takes part in it, the receiving one where both are.
std::vector<std::optional<LaneId>> Process::AddLanes(TraceBuilder& builder) const {
  std::vector<std::optional<LaneId>> lanes(places_.size());
  for (const auto& [place, use] : places_) {
    const auto& [handle, other_handle, queue, stream] = place;
    const Agent* agent = FindAgent(handle);
    const Agent* const other = FindAgent(other_handle);
    if (other != nullptr && other->type == kGpu && (agent == nullptr || agent->type != kGpu)) {
      agent = other;
    }
    if (agent == nullptr) {
      const std::string example = fmt::format("agent {}", handle);
      builder.diagnostics().Add(Finding::kUnknownAgent, use.records, example);
      lanes[use.index] = builder.AddLane(handle, queue, stream, pid);
    } else if (agent->type == kCpu) {
      builder.diagnostics().Add(Finding::kUnsupportedRecords, use.records, "host to host copy");
    } else {
      const std::int64_t number = agent->node.value_or(handle);
      builder.AddDevice(number, agent->name);
      lanes[use.index] = builder.AddLane(number, queue, stream, pid);
    }
  }
  return lanes;
}

// DropDuplicates leaves the first dispatch of each id (replay mode repeats them) and counts ids
// that are missing between the smallest and the largest.
void Process::DropDuplicates(TraceBuilder& builder) {
  DispatchIds ids;
  const auto dropped = std::erase_if(
      dispatches_, [&](const Work& work) { return work.dispatch >= 0 && !ids.Add(work.dispatch); });
  builder.diagnostics().Add(Finding::kMissingDispatchIds, ids.missing());
  builder.diagnostics().Add(Finding::kDuplicateDispatches, static_cast<std::int64_t>(dropped));
}

void Process::MoveDispatches(TraceBuilder& builder,
                             const std::vector<std::optional<LaneId>>& lanes) {
  const auto nameless = [](std::int64_t kernel) { return fmt::format("kernel {}", kernel); };
  struct Named {
    KernelId kernel;
    bool known;
  };
  std::unordered_map<std::int64_t, Named> kernels;
  for (const Work& work : dispatches_) {
    if (!lanes[work.place]) continue;
    auto it = kernels.find(work.code);
    if (it == kernels.end()) {
      const auto name = kernels_.find(work.code);
      const bool known = name != kernels_.end();
      const KernelId kernel = builder.AddKernel(known ? name->second : nameless(work.code));
      it = kernels.try_emplace(work.code, Named{kernel, known}).first;
    }
    if (!it->second.known)
      builder.diagnostics().Add(Finding::kUnknownKernel, 1, nameless(work.code));
    builder.AddDispatch(work.start, work.end, it->second.kernel, work.geometry, *lanes[work.place]);
  }
}

void Process::MoveCopies(TraceBuilder& builder, const std::vector<std::optional<LaneId>>& lanes) {
  std::vector<KernelId> kernels(copy_operations_.size());
  for (const auto& [operation, index] : copy_operations_) {
    kernels[static_cast<std::size_t>(index)] =
        builder.AddKernel(OperationName(operation, "memory_copy"), WorkKind::kCopy);
  }
  const GeometryId unknown = builder.AddGeometry({});
  for (const Work& work : copies_) {
    if (!lanes[work.place]) continue;
    const KernelId kernel = kernels[static_cast<std::size_t>(work.code)];
    builder.AddDispatch(work.start, work.end, kernel, unknown, *lanes[work.place]);
  }
}

void Process::MoveTo(TraceBuilder& builder) && {
  DropDuplicates(builder);
  const auto lanes = AddLanes(builder);
  MoveDispatches(builder, lanes);
  MoveCopies(builder, lanes);
  for (const Call& call : calls_) {
    builder.AddHostCall(OperationName(call.operation, "hip_api"), call.start, call.end);
  }
}

}  // namespace culprit::trace::rocprof_json
