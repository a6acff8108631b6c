#include "sys/ports.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "base/printable.h"
#include "sys/process_stat.h"

namespace culprit::sys {
namespace {

namespace fs = std::filesystem;

// With SO_REUSEADDR a bind succeeds over TIME_WAIT, and listen still fails beside a listener.
bool CanListen(std::uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  const int yes = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool free = ::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) == 0 &&
                    ::listen(fd, 1) == 0;
  ::close(fd);
  return free;
}

// Addresses as /proc/net writes them that get connections to 127.0.0.1: itself and "any", in
// IPv4 and as IPv6 sockets see IPv4.
bool TakesLoopback(std::string_view address) {
  static const std::string loopback = fmt::format("{:08X}", htonl(INADDR_LOOPBACK));
  static const std::string mapped = fmt::format("{:08X}", htonl(0xFFFF));
  return address == loopback || address == std::string(8, '0') || address == std::string(32, '0') ||
         address == std::string(16, '0') + mapped + loopback;
}

//   sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
//    0: 0100007F:1FA5 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711
//    1…
void AddListeners(const char* table, std::uint16_t port, std::set<std::uint64_t>& inodes) {
  std::ifstream file(table);
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream words(line);
    std::string number, local, remote, state, queues, timer, retransmits, uid, timeout;
    std::uint64_t inode = 0;
    words >> number >> local >> remote >> state >> queues >> timer >> retransmits >> uid >>
        timeout >> inode;
    const auto colon = local.find(':');
    if (!words || state != "0A" || colon == std::string::npos) continue;
    if (local.substr(colon + 1) != fmt::format("{:04X}", port)) continue;
    if (TakesLoopback(std::string_view(local).substr(0, colon))) inodes.insert(inode);
  }
}

std::set<std::uint64_t> ListenersOn(std::uint16_t port) {
  std::set<std::uint64_t> inodes;
  AddListeners("/proc/net/tcp", port, inodes);
  AddListeners("/proc/net/tcp6", port, inodes);
  return inodes;
}

// The sockets that a process holds: /proc/PID/fd/7 -> socket:[4711]. Returns whether one was among
// them.
bool RemoveHeldBy(pid_t pid, std::set<std::uint64_t>& inodes) {
  const std::size_t before = inodes.size();
  std::error_code error;
  for (fs::directory_iterator fd(fmt::format("/proc/{}/fd", pid), error), end; !error && fd != end;
       fd.increment(error)) {
    std::error_code gone;
    const std::string target = fs::read_symlink(fd->path(), gone);
    if (gone || !target.starts_with("socket:[")) continue;
    std::uint64_t inode = 0;
    std::from_chars(target.data() + 8, target.data() + target.size(), inode);
    inodes.erase(inode);
  }
  return inodes.size() < before;
}

}  // namespace

base::Result<std::uint16_t> FreePort(std::uint16_t preferred) {
  for (int port = std::max<int>(preferred, 1); port <= UINT16_MAX; ++port) {
    if (CanListen(static_cast<std::uint16_t>(port))) return static_cast<std::uint16_t>(port);
  }
  return base::Fail(base::ErrorCode::kEnvironment,
                    fmt::format("no port of 127.0.0.1 from {} on is free", preferred));
}

Listener WhoListens(std::uint16_t port, pid_t group) {
  std::set<std::uint64_t> inodes = ListenersOn(port);
  if (inodes.empty()) return Listener::kNobody;
  for (const pid_t pid : GroupMembers(group)) RemoveHeldBy(pid, inodes);
  return inodes.empty() ? Listener::kGroup : Listener::kSomebodyElse;
}

std::string NameListeners(std::uint16_t port) {
  std::set<std::uint64_t> inodes = ListenersOn(port);
  if (inodes.empty()) return "nobody any more";
  std::string names;
  for (const ProcessStat& stat : AllProcesses()) {
    if (inodes.empty() || !RemoveHeldBy(stat.identity.pid, inodes)) continue;
    names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", base::Printable(stat.command),
                         stat.identity.pid);
  }
  return names.empty() ? "a process that cannot be looked at" : names;
}

std::vector<pid_t> GroupMembers(pid_t group) {
  std::vector<pid_t> members;
  for (const ProcessStat& stat : AllProcesses()) {
    if (stat.group == group) members.push_back(stat.identity.pid);
  }
  return members;
}

}  // namespace culprit::sys
