#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace culprit::lab {

// ControlGroupLimits is what this process may use at most, by the control groups that it is in
// (version 1 or 2), all those above them included. Absent: no limit, or none that can be read.
struct ControlGroupLimits {
  std::optional<double> processors;
  std::optional<std::uint64_t> memory_bytes;
  bool operator==(const ControlGroupLimits&) const = default;
};

// ReadControlGroups reads them from root's /proc/self/cgroup and /sys/fs/cgroup. A container often
// sees its own group as the top one, under another path than the first file says: so each path is
// tried, and each one above it.
ControlGroupLimits ReadControlGroups(const std::string& root);

}  // namespace culprit::lab
