#include "trace/rocpd/dispatches.h"

#include <algorithm>
#include <map>
#include <optional>
#include <thread>

#include "sys/sqlite_scan.h"
#include "trace/dispatch_ids.h"
#include "trace/rocpd/dispatch_part.h"

namespace culprit::trace::rocpd {
namespace {

using base::Fail;
using base::Finding;
using base::Result;

constexpr std::size_t kMostThreads = 4;

std::size_t ThreadsToUse() {
  return std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, kMostThreads);
}

// ReadParts reads all parts at the same time, the first in this thread.
std::vector<base::Status> ReadParts(const sys::TableScan& scan, std::vector<DispatchPart>& parts,
                                    const ReadOptions& options) {
  std::vector<base::Status> statuses(parts.size());
  const auto read = [&](std::size_t i) {
    statuses[i] = scan.Read(i, [&](const sys::IntegerRow& row) { parts[i].Add(row); });
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < parts.size(); ++i) threads.emplace_back(read, i);
  if (options.progress) options.progress(0.1);
  read(0);
  for (std::thread& thread : threads) thread.join();
  if (options.progress) options.progress(0.7);
  return statuses;
}

// Merger turns the parts of one id space into dispatches of the trace.
class Merger {
 public:
  Merger(const Lookups& lookups, Processes& processes, TraceBuilder& builder)
      : lookups_(lookups), processes_(processes), builder_(builder) {}

  std::int64_t Merge(std::vector<DispatchPart>& parts) {
    const std::size_t before = builder_.trace().size();
    std::size_t size = before;
    for (const DispatchPart& part : parts) size += part.size();
    builder_.Reserve(size);
    for (DispatchPart& part : parts) Append(part);
    base::Diagnostics& found = builder_.diagnostics();
    found.Add(Finding::kUnknownKernel, unknown_kernels_);
    found.Add(Finding::kUnknownAgent, unknown_agents_);
    for (const auto& [pid, ids] : ids_) found.Add(Finding::kMissingDispatchIds, ids.missing());
    return static_cast<std::int64_t>(builder_.trace().size() - before);
  }

 private:
  struct KernelHere {
    KernelId id;
    bool known;
  };
  struct PlaceHere {
    LaneId lane;
    bool agent_known;
    DispatchIds* ids;
  };

  std::vector<KernelHere> Kernels(const DispatchPart& part) {
    std::vector<KernelHere> kernels;
    for (std::size_t i = 0; i < part.kernels(); ++i) {
      const auto it = lookups_.kernels.find(part.kernel_id(i));
      const bool known = it != lookups_.kernels.end() && !it->second.empty();
      kernels.push_back({builder_.AddKernel(known ? it->second : "unknown_kernel"), known});
    }
    return kernels;
  }

  std::vector<PlaceHere> Places(const DispatchPart& part) {
    std::vector<PlaceHere> places;
    for (std::size_t i = 0; i < part.places().size(); ++i) {
      const Place& place = part.places()[i];
      const auto pid = lookups_.Pid(place.process);
      if (pid) (part.wanted(i) ? processes_.read : processes_.left_out).insert(*pid);
      places.push_back({part.wanted(i) ? LaneOf(builder_, lookups_, place) : LaneId(),
                        place.agent && lookups_.agents.contains(*place.agent), &ids_[pid]});
    }
    return places;
  }

  void Append(DispatchPart& part) {
    const auto kernels = Kernels(part);
    const auto places = Places(part);
    std::vector<GeometryId> geometries;
    for (std::size_t i = 0; i < part.geometries(); ++i)
      geometries.push_back(builder_.AddGeometry(part.geometry(i)));
    for (DispatchPart::Block& block : part.blocks()) {
      for (std::size_t i = 0; i < block.start.size(); ++i) {
        const KernelHere& kernel = kernels[block.kernel[i]];
        const PlaceHere& place = places[block.place[i]];
        unknown_kernels_ += !kernel.known;
        unknown_agents_ += !place.agent_known;
        const std::int64_t id = block.dispatch_id[i];
        if (id >= 0 && !place.ids->Add(id)) builder_.DropRepeats();
        builder_.AddDispatch(block.start[i], block.end[i], kernel.id, geometries[block.geometry[i]],
                             place.lane);
      }
      block = {};  // its memory is needed for the columns of the trace
    }
  }

  const Lookups& lookups_;
  Processes& processes_;
  TraceBuilder& builder_;
  std::map<std::optional<std::int64_t>, DispatchIds> ids_;  // by pid
  std::int64_t unknown_kernels_ = 0;
  std::int64_t unknown_agents_ = 0;
};

}  // namespace

Result<DispatchRead> ReadDispatches(const sys::SqliteDatabase& database, const IdSpace& space,
                                    const Lookups& lookups, const ReadOptions& options,
                                    Processes& processes, TraceBuilder& builder) {
  const auto columns = DispatchColumns::Of(space);
  if (!columns) return Fail(columns.error());
  auto scan = sys::TableScan::Prepare(database, space.Name("kernel_dispatch"), columns->names(),
                                      space.Filter("kernel_dispatch"));
  if (!scan) return Fail(std::move(scan.error()));
  scan->Split(ThreadsToUse());
  std::vector<DispatchPart> parts;
  for (std::size_t i = 0; i < scan->parts(); ++i)
    parts.emplace_back(*columns, lookups, options.process);
  const auto statuses = ReadParts(*scan, parts, options);
  DispatchRead read;
  for (const base::Status& status : statuses) {
    if (!status && read.damage.empty()) read.damage = status.error().message;
  }
  read.dispatches = Merger(lookups, processes, builder).Merge(parts);
  return read;
}

}  // namespace culprit::trace::rocpd
