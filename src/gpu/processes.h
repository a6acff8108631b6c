#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace culprit::gpu {

// Process is a living process and the name of its command, at most 15 bytes, hostile.
struct Process {
  pid_t pid;
  std::string command;
  bool operator==(const Process&) const = default;
};

// ProcessStat is what one line of /proc/PID/stat says.
struct ProcessStat {
  pid_t pid;
  std::string command;
  pid_t parent;
  pid_t group;
  std::int64_t cpu_ticks;    // user and system time of all its threads, dead ones included
  std::int64_t start_ticks;  // since boot: tells a pid from a later process with the same pid
  bool operator==(const ProcessStat&) const = default;
};
std::optional<ProcessStat> ParseProcessStat(std::string_view line);

// ReadProcessStat is absent for a process that does not live. proc is the path of /proc.
std::optional<ProcessStat> ReadProcessStat(const std::string& proc, pid_t pid);

// ForeignProcesses names those of pids that live and are not in process group own_group.
std::vector<Process> ForeignProcesses(const std::string& proc, std::span<const pid_t> pids,
                                      std::optional<pid_t> own_group);

// GroupCpu adds up the CPU time of a process group and of the children that left it.
//
// Only the time from the first call of Used on counts; a process born later counts from its
// birth. One that ends between two calls takes its last stretch with it.
class GroupCpu {
 public:
  GroupCpu(std::string proc, pid_t group) : proc_(std::move(proc)), group_(group) {}
  // Used returns the CPU time used so far; it never falls. Absent when no member lives.
  std::optional<base::Nanos> Used();

 private:
  void FindMembers();

  struct Member {
    std::int64_t start_ticks = 0;
    std::int64_t cpu_ticks = 0;
  };
  std::string proc_;
  pid_t group_;
  std::map<pid_t, Member> members_;
  std::int64_t used_ticks_ = 0;
  int calls_ = 0;
};

}  // namespace culprit::gpu
