#include "trace/rocpd/companions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>

#include "sys/sqlite_scan.h"

namespace culprit::trace::rocpd {
namespace {

using base::Finding;
using sys::SqliteStatement;

constexpr std::size_t kMostHostCalls = 1'000'000;

// hipMemcpyAsync, hipStreamSynchronize, hsa_signal_wait_scacquire, …
bool Matters(std::string_view call) {
  if (!call.starts_with("hip") && !call.starts_with("hsa_")) return false;
  constexpr std::array<std::string_view, 14> kWords = {
      "Synchronize", "Memcpy",      "Memset",     "Malloc",          "Free",
      "Wait",        "GraphLaunch", "ModuleLoad", "_wait_",          "memory_copy",
      "memory_fill", "_allocate",   "_free",      "GraphInstantiate"};
  return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) {
    return call.find(word) != std::string_view::npos;
  });
}

// The GPU of a copy: where it goes, or where it comes from if that is no GPU.
std::optional<std::int64_t> GpuOf(const Lookups& lookups, std::optional<std::int64_t> destination,
                                  std::optional<std::int64_t> source) {
  for (const auto& agent : {destination, source}) {
    if (!agent) continue;
    const auto it = lookups.agents.find(*agent);
    if (it != lookups.agents.end() && it->second.is_gpu) return agent;
  }
  return destination ? destination : source;
}

}  // namespace

void ReadCopies(RowReader& rows, const IdSpace& space, const Lookups& lookups,
                const ReadOptions& options, TraceBuilder& builder) {
  if (!space.Has("memory_copy", "start") || !space.Has("memory_copy", "end")) return;
  std::unordered_map<std::int64_t, std::string> strings;
  std::unordered_map<std::int64_t, KernelId> kinds;
  std::map<Place, LaneId> lanes;
  const GeometryId no_geometry = builder.AddGeometry({});
  const auto kind_of = [&](std::int64_t name_id) {
    if (const auto it = kinds.find(name_id); it != kinds.end()) return it->second;
    if (strings.empty()) strings = ReadStrings(rows, space);
    const auto it = strings.find(name_id);
    const KernelId kind = builder.AddKernel(
        it == strings.end() ? std::string_view("MEMORY_COPY") : it->second, WorkKind::kCopy);
    return kinds.emplace(name_id, kind).first->second;
  };
  rows.Each(
      space.Select("memory_copy", {"start", "end", "name_id", "pid", "dst_agent_id", "src_agent_id",
                                   "queue_id", "stream_id", "track_id"}),
      [&](const SqliteStatement& row) {
        Place place{row.OptionalInt(3), GpuOf(lookups, row.OptionalInt(4), row.OptionalInt(5)),
                    row.OptionalInt(6), row.OptionalInt(7)};
        const auto track = lookups.tracks.find(row.Int(8));
        if (!row.IsNull(8) && track != lookups.tracks.end()) {
          const auto agent = place.agent;
          place = track->second;
          if (agent) place.agent = agent;
        }
        if (options.process && lookups.Pid(place.process) != options.process) return;
        auto lane = lanes.find(place);
        if (lane == lanes.end()) lane = lanes.emplace(place, LaneOf(builder, lookups, place)).first;
        builder.AddDispatch(row.Int(0), row.Int(1), kind_of(row.Int(2)), no_geometry, lane->second);
      });
}

void ReadHostCalls(const sys::SqliteDatabase& database, RowReader& rows, const IdSpace& space,
                   const Lookups& lookups, const ReadOptions& options, TraceBuilder& builder) {
  std::vector<std::string> columns = {"start", "end", "name_id", "pid"};
  for (const auto& column : columns) {
    if (!space.Has("region", column)) return;
  }
  auto scan =
      sys::TableScan::Prepare(database, space.Name("region"), columns, space.Filter("region"));
  if (!scan) return rows.Met(scan.error());
  std::unordered_map<std::int64_t, std::string> calls;
  bool have_names = false;
  std::int64_t skipped = 0;
  const auto visit = [&](const sys::IntegerRow& row) {
    if (!have_names) {
      have_names = true;
      calls = ReadStrings(rows, space);
      std::erase_if(calls, [](const auto& entry) { return !Matters(entry.second); });
    }
    if (options.process && lookups.Pid(row.value[3]) != options.process) return;
    const auto call = calls.find(row.value[2]);
    if (call == calls.end() || builder.trace().host_calls.size() >= kMostHostCalls) {
      ++skipped;
      return;
    }
    builder.AddHostCall(call->second, row.value[0], row.value[1]);
  };
  if (const auto status = scan->Read(0, visit); !status) rows.Met(status.error());
  builder.diagnostics().Add(Finding::kUnsupportedRecords, skipped,
                            "host regions that neither wait nor move data");
}

void CheckGraphs(RowReader& rows, const IdSpace& space, TraceBuilder& builder) {
  if (!space.Has("graph_launch", "graph_exec_id") || !space.Has("kernel_dispatch", "graph_exec_id"))
    return;
  const auto distinct = [&](std::string_view table) {
    return fmt::format("SELECT graph_exec_id FROM {} WHERE graph_exec_id IS NOT NULL",
                       sys::QuoteIdentifier(space.Name(table)));
  };
  std::int64_t launches = 0;
  std::map<std::int64_t, std::int64_t> without_nodes;
  rows.Each(distinct("graph_launch"), [&](const SqliteStatement& row) {
    ++without_nodes[row.Int(0)];
    ++launches;
  });
  if (launches == 0) return;
  rows.Each(distinct("kernel_dispatch"),
            [&](const SqliteStatement& row) { without_nodes.erase(row.Int(0)); });
  std::int64_t count = 0;
  for (const auto& [exec, times] : without_nodes) count += times;
  builder.diagnostics().Add(Finding::kGraphWithoutNodes, count);
}

}  // namespace culprit::trace::rocpd
