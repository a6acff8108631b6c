#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace culprit::sys {

// ProcessIdentity tells a process from a later one with the same pid, on the same boot.
struct ProcessIdentity {
  pid_t pid = 0;
  std::uint64_t started = 0;  // clock ticks since boot: field 22 of /proc/PID/stat
  auto operator<=>(const ProcessIdentity&) const = default;
};

// ProcessStat is what one line of /proc/PID/stat says.
struct ProcessStat {
  ProcessIdentity identity;
  std::string command;  // at most 15 bytes, hostile
  char state = '?';
  pid_t parent = 0, group = 0, session = 0;
  base::Nanos cpu{};  // user and system time of all its threads, dead ones included; <= 73 years
  // IsDead: only its exit code is left (a zombie).
  [[nodiscard]] bool IsDead() const { return state == 'Z' || state == 'X'; }
  bool operator==(const ProcessStat&) const = default;
};
std::optional<ProcessStat> ParseProcessStat(std::string_view line);

// ReadProcessStat is absent when there is no such process. proc is the path of /proc.
std::optional<ProcessStat> ReadProcessStat(pid_t pid, const std::string& proc = "/proc");
// AllProcesses are those that are there, zombies included, in no order.
std::vector<ProcessStat> AllProcesses(const std::string& proc = "/proc");

// Identify is absent when there is no such process, or a dead one.
std::optional<ProcessIdentity> Identify(pid_t pid);
bool IsAlive(const ProcessIdentity& process);

}  // namespace culprit::sys
