#include "trace/chrome/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "trace/demangle.h"

namespace culprit::trace::chrome {
namespace {

using base::Finding;

constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();
// 73 years: stamps, durations and the base can be added without a thought.
constexpr std::int64_t kMostNanos = std::int64_t{1} << 61;

std::string Lowercase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

// Kineto's categories. Before 2022 they were "Kernel", "Memcpy", "Memset" and "Runtime".
// gpu_user_annotation spans kernels of a user's range on the GPU's row and is none itself.
std::optional<WorkKind> WorkOf(std::string_view category) {
  if (category == "kernel" || category == "gpu_op") return WorkKind::kKernel;
  if (category == "gpu_memcpy" || category == "memcpy") return WorkKind::kCopy;
  if (category == "gpu_memset" || category == "memset") return WorkKind::kFill;
  return std::nullopt;
}

bool IsRuntimeCall(std::string_view category) {
  return category == "cuda_runtime" || category == "cuda_driver" || category == "hip_runtime" ||
         category == "hip_driver" || category == "runtime";
}

bool Plausible(const std::optional<std::int64_t>& nanos) {
  return nanos && *nanos > -kMostNanos && *nanos < kMostNanos;
}

// Replays of ROCm graphs have neither grid nor block.
Geometry ToGeometry(const Event& event) {
  const auto& grid = event.grid;
  const auto& block = event.block;
  if (grid.size() != 3 || block.size() != 3) return {};
  return MakeGeometry({grid[0], grid[1], grid[2]}, {block[0], block[1], block[2]});
}

bool IsGraphLaunch(std::string_view call) {
  return call.find("GraphLaunch") != std::string_view::npos;
}

// These HIP calls take the global size in work-items and Kineto passes it on as "grid": true of all
// 170 launches of two real traces, where hipLaunchKernel's grids are in blocks.
bool CountsWorkItems(std::string_view call) {
  return call == "hipExtModuleLaunchKernel" || call == "hipHccModuleLaunchKernel";
}

}  // namespace

void Recording::Add(const Event& event) {
  if (event.phase != "X") return;
  const std::string category = Lowercase(event.category);
  if (const auto kind = WorkOf(category)) {
    AddWork(event, *kind);
  } else if (IsRuntimeCall(category)) {
    AddCall(event);
  }
}

void Recording::AddWork(const Event& event, WorkKind kind) {
  if (!Plausible(event.start) || !Plausible(event.duration) || event.name.empty()) {
    builder_.diagnostics().Add(Finding::kMalformedRow, 1, event.category);
    return;
  }
  // Kineto puts a device's work under its number as process and the stream's as thread.
  const std::int64_t device = event.device.value_or(event.process.value_or(0));
  const auto stream = event.stream ? event.stream : event.thread;
  work_.push_back({*event.start, *event.start + *event.duration, event.correlation.value_or(kNone),
                   builder_.AddKernel(Demangled(event.name), kind),
                   builder_.AddGeometry(ToGeometry(event)),
                   builder_.AddLane(device, event.queue, stream)});
}

void Recording::AddCall(const Event& event) {
  if (!Plausible(event.start) || !Plausible(event.duration)) {
    builder_.diagnostics().Add(Finding::kMalformedRow, 1, event.category);
    return;
  }
  calls_.push_back({*event.start, *event.start + *event.duration, event.correlation.value_or(kNone),
                    builder_.trace().strings.Intern(event.name)});
}

void Recording::NameDevice(std::int64_t number, std::string name) {
  if (!name.empty()) device_names_.insert_or_assign(number, std::move(name));
}

// Kineto stores stamps relative to a fixed instant some months back, so that a double holds them,
// and that instant's Unix time as baseTimeNanoseconds: the sum is the wall clock of the recording
// (seen in two traces of PyTorch 2.x on ROCm). Older ones write the Unix time itself and say so
// nowhere, so their clock stays unknown.
void Recording::SetBase(std::optional<std::int64_t> base_ns) {
  if (Plausible(base_ns) && *base_ns > 0) base_ = base_ns;
}

Recording::Correlations Recording::CorrelationsOf(bool (*wanted)(std::string_view name)) const {
  Correlations found;
  for (const Call& call : calls_) {
    if (call.correlation == kNone || !wanted(builder_.trace().strings.Get(call.name))) continue;
    found.push_back(call.correlation);
  }
  std::sort(found.begin(), found.end());
  return found;
}

void Recording::ConvertWorkItemGrids() {
  const Correlations launches = CorrelationsOf(&CountsWorkItems);
  if (launches.empty()) return;
  for (Work& work : work_) {
    if (!std::binary_search(launches.begin(), launches.end(), work.correlation)) continue;
    work.geometry =
        builder_.AddGeometry(GridInBlocks(builder_.trace().geometries[work.geometry.index()]));
  }
}

// CheckGraphs looks for graph launches whose kernels are not there. The kernels of a replay carry
// the correlation of its launch, on CUDA and on ROCm. Where most launches have none, either they
// were not recorded, or they carry another number: then at least as many kernels as launches would
// belong to no recorded call. That some kernels of a replay are missing cannot be seen here.
void Recording::CheckGraphs() {
  const Correlations launches = CorrelationsOf(&IsGraphLaunch);
  if (launches.empty()) return;
  const Correlations calls = CorrelationsOf([](std::string_view) { return true; });
  Correlations replayed;
  std::size_t orphans = 0;
  for (const Work& work : work_) {
    if (std::binary_search(launches.begin(), launches.end(), work.correlation)) {
      replayed.push_back(work.correlation);
    } else if (!std::binary_search(calls.begin(), calls.end(), work.correlation)) {
      ++orphans;
    }
  }
  std::sort(replayed.begin(), replayed.end());
  const auto missing = std::count_if(launches.begin(), launches.end(), [&](std::int64_t launch) {
    return !std::binary_search(replayed.begin(), replayed.end(), launch);
  });
  const auto total = static_cast<std::int64_t>(launches.size());
  if (missing * 2 <= total || static_cast<std::int64_t>(orphans) >= total) return;
  builder_.diagnostics().Add(Finding::kGraphWithoutNodes, missing,
                             fmt::format("{} of {} graph launches", missing, total));
}

// Shift is what takes the file's stamps to the trace's. Without a base their zero means nothing, so
// that they may be moved; the trace knows no stamps of 0 and less.
std::int64_t Recording::Shift() const {
  if (base_) return *base_;
  std::int64_t first = 1;
  for (const Work& work : work_) first = std::min({first, work.start, work.end});
  return 1 - first;
}

// NameDevices: on ROCm an event's device is the number of its node, which counts CPUs too, while
// deviceProperties counts GPUs alone. Where all of these have one name it is that of every device.
void Recording::NameDevices() {
  std::set<std::string> distinct;
  for (const auto& [number, name] : device_names_) distinct.insert(name);
  if (distinct.empty()) return;
  for (Device& device : builder_.trace().devices) {
    if (distinct.size() == 1) {
      device.name = *distinct.begin();
    } else if (const auto it = device_names_.find(device.number); it != device_names_.end()) {
      device.name = it->second;
    }
  }
}

void Recording::MoveToBuilder() && {
  ConvertWorkItemGrids();
  CheckGraphs();
  NameDevices();
  builder_.trace().clock = base_ ? NamedClock::kRealtime : NamedClock::kUnknown;
  const std::int64_t shift = Shift();
  builder_.Reserve(work_.size());
  for (const Work& work : work_) {
    builder_.AddDispatch(work.start + shift, work.end + shift, work.kernel, work.geometry,
                         work.lane);
  }
  for (const Call& call : calls_) {
    builder_.AddHostCall(builder_.trace().strings.Get(call.name), call.start + shift,
                         call.end + shift);
  }
}

}  // namespace culprit::trace::chrome
