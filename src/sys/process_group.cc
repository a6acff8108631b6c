#include "sys/process_group.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

namespace culprit::sys {
namespace {

void Kill(const ProcessIdentity& process) {
  const int fd = static_cast<int>(::syscall(SYS_pidfd_open, process.pid, 0));
  if (fd < 0) {  // gone, or a kernel before 5.3
    if (errno == ENOSYS && IsAlive(process)) ::kill(process.pid, SIGKILL);
    return;
  }
  if (IsAlive(process)) ::syscall(SYS_pidfd_send_signal, fd, SIGKILL, nullptr, 0);
  ::close(fd);
}

}  // namespace

GroupIdentity IdentifyGroup(const ProcessIdentity& leader) {
  const auto stat = ReadProcessStat(leader.pid);
  return {leader, stat ? stat->session : 0};
}

std::vector<ProcessIdentity> MembersOf(const GroupIdentity& group) {
  const auto leader = Identify(group.leader.pid);
  if (leader && leader != group.leader) return {};
  std::vector<ProcessIdentity> members;
  for (const ProcessStat& stat : AllProcesses()) {
    if (stat.group != group.leader.pid || stat.IsDead()) continue;
    const bool ours =
        leader || (stat.session == group.session && stat.identity.started >= group.leader.started);
    if (ours) members.push_back(stat.identity);
  }
  return members;
}

std::vector<ProcessIdentity> KillGroup(const GroupIdentity& group, std::chrono::nanoseconds limit) {
  const StopSignal never;
  const auto end = std::chrono::steady_clock::now() + limit;
  auto members = MembersOf(group);
  while (!members.empty() && std::chrono::steady_clock::now() < end) {
    std::for_each(members.begin(), members.end(), Kill);
    static_cast<void>(never.SleepFor(std::chrono::milliseconds(5)));
    members = MembersOf(group);
  }
  return members;
}

}  // namespace culprit::sys
