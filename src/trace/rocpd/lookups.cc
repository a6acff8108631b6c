#include "trace/rocpd/lookups.h"

#include <fmt/format.h>

#include <limits>

#include "trace/rocpd/kernel_name.h"

namespace culprit::trace::rocpd {
namespace {

using sys::SqliteStatement;

constexpr std::int64_t kNoDevice = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kAgentsOfAMachine = std::int64_t{1} << 32;

void ReadAgents(RowReader& rows, const IdSpace& space, Machines& machines, Lookups& lookups) {
  std::unordered_map<std::int64_t, std::int64_t> nodes;
  if (space.Has("info_node")) {
    rows.Each(space.Select("info_node", {"id", "machine_id"}), [&](const SqliteStatement& row) {
      const auto number = static_cast<std::int64_t>(machines.size());
      nodes[row.Int(0)] = machines.try_emplace(std::string(row.Text(1)), number).first->second;
    });
  }
  // 2, 1966562287, GPU, 2, gfx942, AMD Instinct MI300X
  rows.Each(
      space.Select("info_agent", {"id", "nid", "type", "absolute_index", "name", "product_name"}),
      [&](const SqliteStatement& row) {
        const auto node = nodes.find(row.Int(1));
        const std::int64_t machine = node == nodes.end() ? 0 : node->second;
        const std::int64_t index = row.OptionalInt(3).value_or(row.Int(0));
        const std::string_view name = row.Text(4).empty() ? row.Text(5) : row.Text(4);
        const bool ordinary = index >= 0 && index < kAgentsOfAMachine;
        lookups.agents[row.Int(0)] = {ordinary ? machine * kAgentsOfAMachine + index : index,
                                      std::string(name), row.Text(2) == "GPU"};
      });
}

// An agent that the file does not describe gets a number that no index of a described one can be.
std::int64_t DeviceOf(TraceBuilder& builder, const Lookups& lookups,
                      std::optional<std::int64_t> agent) {
  if (!agent) {
    builder.AddDevice(kNoDevice, "unknown device");
    return kNoDevice;
  }
  if (const auto it = lookups.agents.find(*agent); it != lookups.agents.end()) {
    builder.AddDevice(it->second.number, it->second.name);
    return it->second.number;
  }
  const std::int64_t number = *agent < 0 ? *agent : ~*agent;
  builder.AddDevice(number, fmt::format("unknown device {}", *agent));
  return number;
}

}  // namespace

std::optional<std::int64_t> Lookups::Pid(std::optional<std::int64_t> process) const {
  if (!process) return std::nullopt;
  const auto it = processes.find(*process);
  return it == processes.end() ? process : it->second;
}

Lookups ReadLookups(RowReader& rows, const IdSpace& space, Machines& machines) {
  Lookups lookups;
  if (space.Has("info_kernel_symbol")) {
    rows.Each(space.Select("info_kernel_symbol", {"id", "extdata", "kernel_name", "display_name"}),
              [&](const SqliteStatement& row) {
                lookups.kernels[row.Int(0)] = KernelName(row.Text(1), row.Text(2), row.Text(3));
              });
  }
  if (space.Has("info_agent")) ReadAgents(rows, space, machines, lookups);
  if (space.Has("info_process")) {
    // Never command or environment.
    rows.Each(space.Select("info_process", {"id", "pid"}), [&](const SqliteStatement& row) {
      lookups.processes[row.Int(0)] = row.OptionalInt(1).value_or(row.Int(0));
    });
  }
  if (space.Has("track", "agent_id")) {
    rows.Each(space.Select("track", {"id", "pid", "agent_id", "queue_id", "stream_id"}),
              [&](const SqliteStatement& row) {
                lookups.tracks[row.Int(0)] = {row.OptionalInt(1), row.OptionalInt(2),
                                              row.OptionalInt(3), row.OptionalInt(4)};
              });
  }
  return lookups;
}

std::unordered_map<std::int64_t, std::string> ReadStrings(RowReader& rows, const IdSpace& space) {
  std::unordered_map<std::int64_t, std::string> strings;
  if (!space.Has("string")) return strings;
  rows.Each(space.Select("string", {"id", "string"}),
            [&](const SqliteStatement& row) { strings[row.Int(0)] = row.Text(1); });
  return strings;
}

LaneId LaneOf(TraceBuilder& builder, const Lookups& lookups, const Place& place) {
  return builder.AddLane(DeviceOf(builder, lookups, place.agent), place.queue, place.stream,
                         lookups.Pid(place.process));
}

}  // namespace culprit::trace::rocpd
