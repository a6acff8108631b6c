#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sys/process.h"

namespace culprit::collect::rocprofv3 {

// What /proc tells of a living process. Everything is absent when it has gone, or may not be seen.

// WrittenBy counts the bytes that it has written to any file: wchar of /proc/PID/io.
std::optional<std::uint64_t> WrittenBy(pid_t pid);

// Catches tells whether it has a handler for a signal: SigCgt of /proc/PID/status.
bool Catches(pid_t pid, int signal);

// CommandOf is its command line, words joined by NULs; "" for one without.
std::string CommandOf(pid_t pid);

// HaveOpen tells whether one of the processes has a file open whose path begins with prefix, a path
// without links: a database and its journal begin alike.
std::optional<bool> HaveOpen(const std::vector<sys::ProcessIdentity>& processes,
                             const std::string& prefix);

}  // namespace culprit::collect::rocprofv3
