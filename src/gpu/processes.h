#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/units.h"
#include "sys/process_stat.h"

namespace culprit::gpu {

// Process is a living process and the name of its command, at most 15 bytes, hostile.
struct Process {
  pid_t pid;
  std::string command;
  bool operator==(const Process&) const = default;
};

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

  std::string proc_;
  pid_t group_;
  std::map<sys::ProcessIdentity, base::Nanos> members_;  // what each had used when last looked at
  base::Nanos used_{};
  int calls_ = 0;
};

}  // namespace culprit::gpu
