#include "sys/process_group.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace culprit::sys {
namespace {

struct Place {
  pid_t group = 0, session = 0;
};

// 1234 (a name) with ) in it) S 1 1234 1200 …: state, parent, group, session. As in Identify.
std::optional<Place> PlaceOf(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(file, line, '\0');
  const auto name_end = line.rfind(") ");
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(name_end + 2));
  char state = 0;
  pid_t parent = 0;
  Place place;
  fields >> state >> parent >> place.group >> place.session;
  if (!fields) return std::nullopt;
  return place;
}

std::vector<pid_t> AllPids() {
  std::vector<pid_t> pids;
  std::error_code error;
  for (std::filesystem::directory_iterator at("/proc", error), end; at != end;
       at.increment(error)) {
    const std::string name = at->path().filename();
    pid_t pid = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (parsed.ec == std::errc() && parsed.ptr == name.data() + name.size()) pids.push_back(pid);
  }
  return pids;
}

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
  const auto place = PlaceOf(leader.pid);
  return {leader, place ? place->session : 0};
}

std::vector<ProcessIdentity> MembersOf(const GroupIdentity& group) {
  const auto leader = Identify(group.leader.pid);
  if (leader && leader != group.leader) return {};
  std::vector<ProcessIdentity> members;
  for (const pid_t pid : AllPids()) {
    const auto identity = Identify(pid);
    const auto place = PlaceOf(pid);
    if (!identity || !place || place->group != group.leader.pid) continue;
    const bool ours =
        leader || (place->session == group.session && identity->started >= group.leader.started);
    if (ours) members.push_back(*identity);
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
