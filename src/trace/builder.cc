#include "trace/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "trace/demangle.h"

namespace culprit::trace {
namespace {

using base::Finding;
using base::TraceTime;

// Stamps within it can be subtracted from each other without overflow.
constexpr std::int64_t kFurthestStamp = std::int64_t{1} << 61;

// ForEachColumn visits the columns of dispatches; start is the last, because the others are sorted
// by it.
template <typename Visit>
void ForEachColumn(Trace& trace, Visit visit) {
  visit(trace.end);
  visit(trace.kernel);
  visit(trace.geometry);
  visit(trace.lane);
  if (!trace.layer.empty()) visit(trace.layer);
  visit(trace.start);
}

}  // namespace

std::size_t TraceBuilder::GeometryHash::operator()(const Geometry& g) const {
  std::uint64_t h = 0x9E3779B97F4A7C15u;
  for (const std::uint32_t v : {g.grid.x, g.grid.y, g.grid.z, g.block.x, g.block.y, g.block.z}) {
    h = (h ^ v) * 0xD6E8FEB86659FD93u;
    h ^= h >> 32;
  }
  return h;
}

TraceBuilder::TraceBuilder(std::string format, std::string path) {
  trace_.format = std::move(format);
  trace_.path = std::move(path);
}

KernelId TraceBuilder::AddKernel(std::string_view full_name, WorkKind kind) {
  const base::StringId name = trace_.strings.Intern(WithoutSuffixes(full_name));
  const auto [it, fresh] = kernel_ids_.try_emplace({name, kind}, KernelId(trace_.kernels.size()));
  if (fresh) trace_.kernels.push_back({name, kind});
  return it->second;
}

GeometryId TraceBuilder::AddGeometry(const Geometry& geometry) {
  const auto [it, fresh] =
      geometry_ids_.try_emplace(geometry, GeometryId(trace_.geometries.size()));
  if (fresh) trace_.geometries.push_back(geometry);
  return it->second;
}

DeviceId TraceBuilder::AddDevice(std::int64_t number, std::string_view name) {
  const auto [it, fresh] = device_ids_.try_emplace(number, DeviceId(trace_.devices.size()));
  if (fresh) trace_.devices.push_back({"", number});
  std::string& known = trace_.devices[it->second.index()].name;
  if (known.empty()) known = name;
  return it->second;
}

LaneId TraceBuilder::AddLane(std::int64_t device, std::optional<std::int64_t> queue,
                             std::optional<std::int64_t> stream,
                             std::optional<std::int64_t> process) {
  const Lane lane{AddDevice(device, ""), queue, stream, process};
  const bool by_stream = stream.value_or(0) != 0;
  const LaneKey key(lane.device, by_stream ? std::nullopt : queue, stream, process);
  const auto [it, fresh] = lane_ids_.try_emplace(key, LaneId(trace_.lanes.size()));
  if (fresh) trace_.lanes.push_back(lane);
  return it->second;
}

void TraceBuilder::Reserve(std::size_t dispatches) {
  ForEachColumn(trace_, [&](auto& column) { column.reserve(dispatches); });
}

void TraceBuilder::AddDispatch(std::int64_t start_ns, std::int64_t end_ns, KernelId kernel,
                               GeometryId geometry, LaneId lane, Layer layer) {
  if (start_ns == 0 || end_ns == 0) {
    ++zero_stamps_;
    return;
  }
  if (std::min(start_ns, end_ns) < -kFurthestStamp || std::max(start_ns, end_ns) > kFurthestStamp) {
    ++absurd_stamps_;
    return;
  }
  if (end_ns < start_ns) {
    std::swap(start_ns, end_ns);
    ++swapped_;
  }
  std::int64_t summed_ns = 0;
  if (__builtin_add_overflow(summed_ns_, end_ns - start_ns, &summed_ns)) {
    ++absurd_stamps_;
    return;
  }
  summed_ns_ = summed_ns;
  trace_.start.emplace_back(base::Nanos(start_ns));
  trace_.end.emplace_back(base::Nanos(end_ns));
  trace_.kernel.push_back(kernel);
  trace_.geometry.push_back(geometry);
  trace_.lane.push_back(lane);
  if (!layer && trace_.layer.empty()) return;
  trace_.layer.resize(trace_.size() - 1);  // those before the first that has one
  trace_.layer.push_back(layer);
}

void TraceBuilder::AddHostCall(std::string_view name, std::int64_t start_ns, std::int64_t end_ns) {
  end_ns = std::max(start_ns, end_ns);
  std::int64_t summed_ns = 0;
  if (start_ns < -kFurthestStamp || end_ns > kFurthestStamp ||
      __builtin_add_overflow(host_summed_ns_, end_ns - start_ns, &summed_ns)) {
    ++absurd_stamps_;
    return;
  }
  host_summed_ns_ = summed_ns;
  trace_.host_calls.push_back({trace_.strings.Intern(name), TraceTime(base::Nanos(start_ns)),
                               TraceTime(base::Nanos(end_ns))});
}

void TraceBuilder::SortByStart() {
  const auto& start = trace_.start;
  std::int64_t inversions = 0;
  for (std::size_t i = 1; i < start.size(); ++i) inversions += start[i] < start[i - 1];
  if (inversions == 0) return;
  trace_.diagnostics.Add(Finding::kOutOfOrder, inversions);
  std::vector<std::uint32_t> order(start.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return start[a] < start[b]; });
  // One column after another, so that only one copy of one column exists at a time.
  ForEachColumn(trace_, [&]<typename T>(std::vector<T>& column) {
    std::vector<T> sorted;
    sorted.reserve(column.size());
    for (const std::uint32_t from : order) sorted.push_back(column[from]);
    column = std::move(sorted);
  });
}

// Sorted by start, a record and its repeats lie among those of the same start.
void TraceBuilder::RemoveRepeats() {
  std::set<std::tuple<LaneId, TraceTime, KernelId, GeometryId>> seen;
  TraceTime start = TraceTime::min();
  std::size_t kept = 0;
  for (std::size_t i = 0; i < trace_.size(); ++i) {
    if (trace_.start[i] != start) seen.clear();
    start = trace_.start[i];
    if (!seen.emplace(trace_.lane[i], trace_.end[i], trace_.kernel[i], trace_.geometry[i]).second) {
      continue;
    }
    ForEachColumn(trace_, [&](auto& column) { column[kept] = column[i]; });
    ++kept;
  }
  trace_.diagnostics.Add(Finding::kDuplicateDispatches,
                         static_cast<std::int64_t>(trace_.size() - kept));
  ForEachColumn(trace_, [&](auto& column) { column.resize(kept); });
}

void TraceBuilder::CheckLanes() {
  std::vector<TraceTime> frontier(trace_.lanes.size(), TraceTime::min());
  std::vector<char> used(trace_.devices.size(), 0);
  std::int64_t overlaps = 0;
  for (std::size_t i = 0; i < trace_.size(); ++i) {
    TraceTime& lane_end = frontier[trace_.lane[i].index()];
    overlaps += trace_.start[i] < lane_end;
    lane_end = std::max(lane_end, trace_.end[i]);
  }
  for (std::size_t i = 0; i < frontier.size(); ++i) {
    if (frontier[i] != TraceTime::min()) used[trace_.lanes[i].device.index()] = 1;
  }
  trace_.diagnostics.Add(Finding::kSameLaneOverlap, overlaps);
  const auto devices = std::count(used.begin(), used.end(), 1);
  if (devices > 1) trace_.diagnostics.Add(Finding::kMixedDevices, devices);
}

// Kernels of several kinds never all have the same grid: a writer that fills in a constant does not
// know it.
void TraceBuilder::CheckShapes() {
  constexpr std::size_t kFewKernels = 8;
  if (trace_.kernels.size() < kFewKernels) return;
  std::optional<Dim3> grid;
  for (const Geometry& geometry : trace_.geometries) {
    if (!geometry.known()) continue;
    if (grid && *grid != geometry.grid) return;
    grid = geometry.grid;
  }
  if (!grid) return;
  std::fill(trace_.geometries.begin(), trace_.geometries.end(), Geometry{});
  trace_.diagnostics.Add(Finding::kShapesMissing);
}

base::Result<Trace> TraceBuilder::Finish() && {
  for (Device& device : trace_.devices) {
    if (device.name.empty()) device.name = fmt::format("device {}", device.number);
  }
  if (trace_.size() == 0 && zero_stamps_ > 0) {
    const auto& info = base::Describe(Finding::kAllStampsZero);
    return base::Fail(base::ErrorCode::kDamagedTrace, std::string(info.what), trace_.path,
                      std::string(info.advice));
  }
  if (trace_.size() == 0) {
    return base::Fail(base::ErrorCode::kNotATrace,
                      "is a " + trace_.format + " file without a single dispatch", trace_.path,
                      "trace again with kernel tracing on, and send a request while it runs");
  }
  trace_.diagnostics.Add(Finding::kZeroStamps, zero_stamps_);
  trace_.diagnostics.Add(Finding::kMalformedRow, absurd_stamps_, "a stamp that no clock shows");
  trace_.diagnostics.Add(Finding::kEndBeforeStart, swapped_);
  SortByStart();
  if (drop_repeats_) RemoveRepeats();
  CheckLanes();
  CheckShapes();
  std::stable_sort(trace_.host_calls.begin(), trace_.host_calls.end(),
                   [](const HostCall& a, const HostCall& b) { return a.start < b.start; });
  return std::move(trace_);
}

}  // namespace culprit::trace
