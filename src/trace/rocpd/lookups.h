#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "trace/builder.h"
#include "trace/rocpd/row_reader.h"
#include "trace/rocpd/schema.h"

namespace culprit::trace::rocpd {

// Place is where and for whom a record ran, by the file's ids. Any of it may be missing.
struct Place {
  std::optional<std::int64_t> process, agent, queue, stream;
  auto operator<=>(const Place&) const = default;
};

// Agent is a row of rocpd_info_agent. number is the same for the same processor of the same machine
// in all id spaces of a file.
struct Agent {
  std::int64_t number;
  std::string name;
  bool is_gpu;
};

// Lookups are the small tables of one id space as maps by id: rocpd files have no index, and a
// missing row must not lose a dispatch, as it does in the `kernels` view.
struct Lookups {
  std::unordered_map<std::int64_t, std::string> kernels;  // full name
  std::unordered_map<std::int64_t, Agent> agents;
  std::unordered_map<std::int64_t, std::int64_t> processes;  // id → pid
  std::unordered_map<std::int64_t, Place> tracks;            // schema 4: by track_id

  // Pid is the operating system's number of a process that rows name by id.
  [[nodiscard]] std::optional<std::int64_t> Pid(std::optional<std::int64_t> process) const;
};

// Machines numbers the machines of a file: several when traces of several nodes were merged. Their
// names never leave it.
using Machines = std::map<std::string, std::int64_t>;

Lookups ReadLookups(RowReader& rows, const IdSpace& space, Machines& machines);

// ReadStrings reads rocpd_string, by id.
std::unordered_map<std::int64_t, std::string> ReadStrings(RowReader& rows, const IdSpace& space);

// LaneOf adds the lane and device of a place.
LaneId LaneOf(TraceBuilder& builder, const Lookups& lookups, const Place& place);

}  // namespace culprit::trace::rocpd
