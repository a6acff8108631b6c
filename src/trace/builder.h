#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/result.h"
#include "trace/trace.h"

namespace culprit::trace {

// TraceBuilder is how readers make a Trace: it interns what repeats, repairs what can be repaired,
// counts every repair, and sorts.
//
// Ids of devices are the file's own numbers. Stamps are plain nanoseconds here, because this is
// the border at which they get their clock.
class TraceBuilder {
 public:
  TraceBuilder(std::string format, std::string path);

  // Each returns the same id for the same thing.
  KernelId AddKernel(std::string_view full_name, WorkKind kind = WorkKind::kKernel);
  GeometryId AddGeometry(const Geometry& geometry);
  // AddDevice gives a device its name, the first one it gets; AddLane makes a nameless one when the
  // number is new.
  DeviceId AddDevice(std::int64_t number, std::string_view name);
  // A stream numbered 0 may be the default stream or "unknown" (ROCm 7.0.1 writes 0 for all):
  // such lanes are told apart by queue as well, others by stream alone.
  LaneId AddLane(std::int64_t device, std::optional<std::int64_t> queue,
                 std::optional<std::int64_t> stream,
                 std::optional<std::int64_t> process = std::nullopt);

  void Reserve(std::size_t dispatches);
  // AddDispatch swaps a start after its end and leaves out a record without stamps (0) or with
  // stamps that no clock shows (beyond 2^61 ns, 73 years; or all durations together would not fit
  // in 64 bits), counting each.
  void AddDispatch(std::int64_t start_ns, std::int64_t end_ns, KernelId kernel, GeometryId geometry,
                   LaneId lane, Layer layer = std::nullopt);
  // DropRepeats makes Finish leave out records that equal another in every column. For readers that
  // saw a dispatch id twice.
  void DropRepeats() { drop_repeats_ = true; }
  // AddHostCall takes a call that ends before it starts as one that took no time, and leaves out
  // what AddDispatch would for its stamps; 0 is a stamp here.
  void AddHostCall(std::string_view name, std::int64_t start_ns, std::int64_t end_ns);

  base::Diagnostics& diagnostics() { return trace_.diagnostics; }
  Trace& trace() { return trace_; }

  // Finish sorts by start, counts overlaps and devices, and hands the trace over.
  // Fails with kDamagedTrace when every stamp was 0 and with kNotATrace when there is no dispatch.
  base::Result<Trace> Finish() &&;

 private:
  using LaneKey = std::tuple<DeviceId, std::optional<std::int64_t>, std::optional<std::int64_t>,
                             std::optional<std::int64_t>>;
  struct GeometryHash {
    std::size_t operator()(const Geometry& geometry) const;
  };

  void SortByStart();
  void RemoveRepeats();
  void CheckLanes();
  void CheckShapes();

  Trace trace_;
  std::map<std::pair<base::StringId, WorkKind>, KernelId> kernel_ids_;
  std::unordered_map<Geometry, GeometryId, GeometryHash> geometry_ids_;
  std::unordered_map<std::int64_t, DeviceId> device_ids_;
  std::map<LaneKey, LaneId> lane_ids_;
  bool drop_repeats_ = false;
  std::int64_t zero_stamps_ = 0;
  std::int64_t absurd_stamps_ = 0;
  std::int64_t summed_ns_ = 0;       // all durations so far
  std::int64_t host_summed_ns_ = 0;  // those of host calls
  std::int64_t swapped_ = 0;
};

}  // namespace culprit::trace
