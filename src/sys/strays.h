#pragma once

#include <string>
#include <vector>

#include "sys/process.h"

namespace culprit::sys {

// A process that leaves its group, as daemons do, cannot be ended with it. AdoptOrphans makes this
// process the parent of whatever its descendants leave behind from now on, so that it is found.
void AdoptOrphans();

// Children are the living children of this process.
std::vector<ProcessIdentity> Children();

// EndStrays kills and reaps all children that are none of `known`, and what they leave behind in
// turn. Returns their pids and names, "4711 sleep". Nobody else may start processes meanwhile.
std::vector<std::string> EndStrays(const std::vector<ProcessIdentity>& known);

}  // namespace culprit::sys
