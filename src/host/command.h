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

// Sudo says what to do when the user alone may not make a change.
enum class Sudo { kNever, kWhenDenied };

// ChangeByCommand runs a command that changes the machine, announced before it runs. When it is
// denied and this is not root, it is run again with `sudo -n`.
base::Status ChangeByCommand(const std::vector<std::string>& argv, Sudo sudo,
                             const Announce& announce);

}  // namespace culprit::host
