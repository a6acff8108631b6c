#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace culprit::sys {

// FreePort is the first port from preferred on that nothing of this machine listens on, as far as
// 127.0.0.1 is concerned. Connections of an earlier server that linger in TIME_WAIT don't count:
// the next server binds over them as well. Somebody may still take the port before it is used;
// WhoListens tells. Fails with kEnvironment when none is left.
base::Result<std::uint16_t> FreePort(std::uint16_t preferred = 8101);

enum class Listener { kNobody, kGroup, kSomebodyElse };

// WhoListens tells whether everything that accepts connections for 127.0.0.1:port belongs to a
// process group. Servers that set SO_REUSEPORT share a port without an error, and the kernel deals
// connections out to them: one stranger is enough for kSomebodyElse.
// The tables of sockets, processes and their files are read one after the other, so that a single
// look can be wrong about what changes meanwhile: look again before you accuse anybody.
Listener WhoListens(std::uint16_t port, pid_t group);

// NameListeners names the processes that accept connections for 127.0.0.1:port, for people:
// "llama-server (4711)", "nobody any more", or "a process that cannot be looked at" where its files
// are not ours to see.
std::string NameListeners(std::uint16_t port);

// GroupMembers are the pids of a process group, zombies included.
std::vector<pid_t> GroupMembers(pid_t group);

}  // namespace culprit::sys
