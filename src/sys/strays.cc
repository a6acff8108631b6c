#include "sys/strays.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <sstream>

#include "sys/folder.h"
#include "sys/text_file.h"

namespace culprit::sys {
namespace {

// More than any server forks; a fork bomb is not hunted for ever.
constexpr int kMostRounds = 64;

// Of every thread of this process, "4711 4712 ".
std::vector<pid_t> ChildPids() {
  std::vector<pid_t> pids;
  for (const std::string& task : NamesIn("/proc/self/task").value_or(std::vector<std::string>())) {
    std::istringstream children(ReadText("/proc/self/task/" + task + "/children").value_or(""));
    for (pid_t pid = 0; children >> pid;) pids.push_back(pid);
  }
  return pids;
}

}  // namespace

void AdoptOrphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

std::vector<ProcessIdentity> Children() {
  std::vector<ProcessIdentity> children;
  for (const pid_t pid : ChildPids()) {
    if (const auto identity = Identify(pid)) children.push_back(*identity);
  }
  return children;
}

std::vector<std::string> EndStrays(const std::vector<ProcessIdentity>& known) {
  std::vector<std::string> ended;
  for (int round = 0; round < kMostRounds; ++round) {
    bool found = false;
    for (const pid_t pid : ChildPids()) {
      const bool is_known = std::any_of(known.begin(), known.end(),
                                        [pid](const auto& each) { return each.pid == pid; });
      if (is_known) continue;
      found = true;
      const auto stat = ReadProcessStat(pid);
      const bool alive = stat && !stat->IsDead();
      if (alive) ended.push_back(std::to_string(pid) + " " + stat->command);
      ::kill(pid, SIGKILL);  // a child of ours: nobody else gets its pid before it is reaped
      ::waitpid(pid, nullptr, 0);
    }
    if (!found) break;
  }
  return ended;
}

}  // namespace culprit::sys
