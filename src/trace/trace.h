#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/diagnostics.h"
#include "base/id.h"
#include "base/string_pool.h"
#include "base/units.h"
#include "trace/geometry.h"

namespace culprit::trace {

struct KernelTag {};
struct GeometryTag {};
struct LaneTag {};
struct DeviceTag {};
using KernelId = base::Id<KernelTag>;
using GeometryId = base::Id<GeometryTag>;
using LaneId = base::Id<LaneTag>;
using DeviceId = base::Id<DeviceTag>;

// WorkKind tells what a dispatch is. Copies and fills made by the runtime's own kernels
// (__amd_rocclr_copyBuffer) are kernels; kCopy and kFill are records of the copy engines.
enum class WorkKind : std::uint8_t { kKernel, kCopy, kFill, kGraph };

// Kernel is the code that dispatches run. name is the best full name the file has: demangled
// where known, without the suffixes ".kd" and " [clone .kd]"; hostile text until printed.
struct Kernel {
  base::StringId name;
  WorkKind kind = WorkKind::kKernel;
};

// Device is one GPU as the trace names it.
struct Device {
  std::string name;     // "gfx1151", "NVIDIA H200", or "device 3" when the file says no more
  std::int64_t number;  // the file's own number for it
};

// Lane is a place where work runs in order: a stream, or a hardware queue where the file knows no
// streams. Dispatches of one lane that overlap are waiting for each other. Streams and queues are
// numbered by each process for itself; process is a pid where the file has
// one, else any number that tells them apart.
struct Lane {
  DeviceId device;
  std::optional<std::int64_t> queue;
  std::optional<std::int64_t> stream;
  std::optional<std::int64_t> process = {};
};

// HostCall is one blocking or asynchronous call of the runtime API on the host. Its time is the
// host's: it is shown, and never booked as transfer or kernel time.
struct HostCall {
  base::StringId name;
  base::TraceTime start, end;
};

// Layer is the number of the model's layer, from 0, that a dispatch works for; absent for what
// belongs to none: embeddings, the output head.
using Layer = std::optional<std::uint16_t>;

using base::NamedClock;

// Trace is what a profiler recorded, of whatever format.
//
// The columns start, end, kernel, geometry and lane have one entry a dispatch, sorted by start
// (ties: as in the file); end >= start. layer is such a column too, or empty when the format knows
// no layers. Stamps are nanoseconds of `clock`; no difference of two
// and no sum of durations overflows. Copies and fills are dispatches too, on the lane they ran on.
// Made by readers through TraceBuilder, read by analysis.
struct Trace {
  std::string format;  // "rocpd 3", "rocprofv3 CSV", …
  std::string path;
  NamedClock clock = NamedClock::kUnknown;

  std::vector<base::TraceTime> start;
  std::vector<base::TraceTime> end;
  std::vector<KernelId> kernel;
  std::vector<GeometryId> geometry;
  std::vector<LaneId> lane;
  std::vector<Layer> layer;

  std::vector<Kernel> kernels;
  std::vector<Geometry> geometries;
  std::vector<Lane> lanes;
  std::vector<Device> devices;
  std::vector<HostCall> host_calls;  // sorted by start; may be empty
  base::StringPool strings;
  base::Diagnostics diagnostics;

  [[nodiscard]] std::size_t size() const { return start.size(); }
  [[nodiscard]] std::string_view kernel_name(KernelId id) const {
    return strings.Get(kernels[id.index()].name);
  }
};

}  // namespace culprit::trace
