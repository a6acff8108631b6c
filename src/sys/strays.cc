#include "sys/strays.h"

#include <dirent.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>

namespace culprit::sys {
namespace {

// More than any server forks; a fork bomb is not hunted for ever.
constexpr int kMostRounds = 64;

// Of every thread of this process, "4711 4712 ".
std::vector<pid_t> ChildPids() {
  std::vector<pid_t> pids;
  DIR* tasks = ::opendir("/proc/self/task");
  if (tasks == nullptr) return pids;
  while (const dirent* task = ::readdir(tasks)) {
    if (task->d_name[0] == '.') continue;
    std::ifstream file(std::string("/proc/self/task/") + task->d_name + "/children");
    for (pid_t pid = 0; file >> pid;) pids.push_back(pid);
  }
  ::closedir(tasks);
  return pids;
}

std::string NameOf(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/comm");
  std::string name;
  std::getline(file, name);
  return std::to_string(pid) + " " + name;
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
      if (Identify(pid)) ended.push_back(NameOf(pid));  // else it has died already
      ::kill(pid, SIGKILL);  // a child of ours: nobody else gets its pid before it is reaped
      ::waitpid(pid, nullptr, 0);
    }
    if (!found) break;
  }
  return ended;
}

}  // namespace culprit::sys
