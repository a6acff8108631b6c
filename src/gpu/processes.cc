#include "gpu/processes.h"

#include <algorithm>
#include <set>
#include <utility>

namespace culprit::gpu {

using sys::ProcessStat;

std::vector<Process> ForeignProcesses(const std::string& proc, std::span<const pid_t> pids,
                                      std::optional<pid_t> own_group) {
  std::vector<Process> foreign;
  for (const pid_t pid : pids) {
    auto stat = sys::ReadProcessStat(pid, proc);
    if (stat && stat->group != own_group) foreign.push_back({pid, std::move(stat->command)});
  }
  return foreign;
}

void GroupCpu::FindMembers() {
  const std::vector<ProcessStat> all = sys::AllProcesses(proc_);
  std::set<pid_t> found;
  // A child may have a smaller pid than its parent, so look until nobody is added.
  std::size_t before = 0;
  do {
    before = found.size();
    for (const ProcessStat& stat : all) {
      if (stat.group == group_ || found.contains(stat.parent)) found.insert(stat.identity.pid);
    }
  } while (found.size() > before);
  for (const ProcessStat& stat : all) {
    if (!found.contains(stat.identity.pid)) continue;
    members_.try_emplace(stat.identity, calls_ == 0 ? stat.cpu : base::Nanos(0));
  }
}

std::optional<base::Nanos> GroupCpu::Used() {
  // Reading the whole of /proc costs a few ms on a busy machine, so new members are looked for in
  // every fifth call only; a server starts its workers once.
  if (calls_ % 5 == 0) FindMembers();
  calls_ = calls_ % 5 + 1;
  for (auto it = members_.begin(); it != members_.end();) {
    const auto stat = sys::ReadProcessStat(it->first.pid, proc_);
    if (!stat || stat->identity != it->first) {
      it = members_.erase(it);
      continue;
    }
    const auto grown = std::max(base::Nanos(0), stat->cpu - it->second);
    used_ = std::min(base::Nanos::max() / 2, used_ + grown);
    it->second = stat->cpu;
    ++it;
  }
  if (members_.empty()) return std::nullopt;
  return used_;
}

}  // namespace culprit::gpu
