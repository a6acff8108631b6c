// command: how settings are read and changed through the system's own commands, in plain English
// output and never with a question to the user.
#pragma once

#include <string>
#include <vector>

#include "host/knob.h"

namespace culprit::host {

// ReadByCommand returns what the command printed. Fails with kNotFound when it is not installed,
// kEnvironment with its own words when it failed.
base::Result<std::string> ReadByCommand(const std::vector<std::string>& argv);

// Privilege says with whose a change may be made: the user's own, or root's by `sudo -n` where the
// user is denied; the latter also without what sudo remembers of passwords typed before, which a
// guardian has not and which is forgotten after some minutes.
enum class Privilege { kOwn, kSudo, kSudoWithoutMemory };

// ChangeByCommand runs a command that changes the machine, announced before it runs.
base::Status ChangeByCommand(const std::vector<std::string>& argv, Privilege privilege,
                             const Announce& announce);

// IsRoot tells whether there is nothing that this process may not do.
bool IsRoot();

}  // namespace culprit::host
