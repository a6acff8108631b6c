#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "trace/builder.h"

namespace culprit::trace::rocprof_json {

// Field is a number that a kernel_dispatch, memory_copy or hip_api may have.
enum Field : int {
  kStart,
  kEnd,
  kKind,
  kOperation,
  kAgent,       // of a copy, the receiving one
  kOtherAgent,  // of a copy, the sending one
  kQueue,
  kStream,
  kKernel,
  kDispatchId,
  kGridX,  // in work-items
  kGridY,
  kGridZ,
  kBlockX,
  kBlockY,
  kBlockZ,
  kFieldCount,
};

// Record is one element of those arrays: what was readable of it.
using Record = std::array<std::optional<std::int64_t>, kFieldCount>;

struct Agent {
  std::optional<std::int64_t> handle, node, type;
  std::string name;
};

struct Symbol {
  std::optional<std::int64_t> id;
  std::string mangled, demangled;
};

// Process is one element of rocprofiler-sdk-tool while it is read. Its parts may come in any order,
// names after the records that need them, so records wait here, in 40 bytes each.
class Process {
 public:
  std::optional<std::int64_t> pid;

  // Kinds of records and the operations of each, in the order of their numbers.
  void AddKind();
  void AddOperation(std::string_view name);
  void AddAgent(const Agent& agent);
  void AddSymbol(Symbol symbol);
  // Each returns false when the record lacks what it needs or holds an impossible value.
  bool AddDispatch(const Record& record, TraceBuilder& builder);
  bool AddCopy(const Record& record);
  bool AddHipCall(const Record& record);

  [[nodiscard]] bool HasWork() const { return !dispatches_.empty() || !copies_.empty(); }
  // MoveTo hands everything over, now that all names are known.
  void MoveTo(TraceBuilder& builder) &&;

 private:
  using Operation = std::pair<std::int64_t, std::int64_t>;  // kind, operation
  struct Work {
    std::int64_t start, end;
    std::int64_t code;  // a dispatch's kernel_id, a copy's index into copy_operations_
    std::int64_t dispatch;
    GeometryId geometry;
    std::uint32_t place;  // index into places_
  };
  // A place is where work ran: agent, the other agent of a copy, queue, stream.
  using Place = std::tuple<std::int64_t, std::optional<std::int64_t>, std::optional<std::int64_t>,
                           std::optional<std::int64_t>>;
  struct PlaceUse {
    std::uint32_t index;
    std::int64_t records;
  };
  struct Call {
    std::int64_t start, end;
    Operation operation;
  };

  std::uint32_t PlaceOf(const Record& record);
  [[nodiscard]] std::string OperationName(Operation operation, std::string_view otherwise) const;
  [[nodiscard]] const Agent* FindAgent(std::optional<std::int64_t> handle) const;
  [[nodiscard]] std::vector<std::optional<LaneId>> AddLanes(TraceBuilder& builder) const;
  void DropDuplicates(TraceBuilder& builder);
  void MoveDispatches(TraceBuilder& builder, const std::vector<std::optional<LaneId>>& lanes);
  void MoveCopies(TraceBuilder& builder, const std::vector<std::optional<LaneId>>& lanes);

  std::vector<std::vector<std::string>> operation_names_;  // by kind, by operation
  std::unordered_map<std::int64_t, Agent> agents_;
  std::unordered_map<std::int64_t, std::string> kernels_;
  std::vector<Work> dispatches_, copies_;
  std::vector<Call> calls_;
  std::map<Place, PlaceUse> places_;
  std::map<Operation, std::int64_t> copy_operations_;
};

}  // namespace culprit::trace::rocprof_json
