#pragma once

#include <chrono>
#include <vector>

#include "sys/process.h"

namespace culprit::sys {

// GroupIdentity is a process group as it was when its leader was started; it tells the group from a
// later one with the same number, on the same boot, also when its leader has died.
struct GroupIdentity {
  ProcessIdentity leader;
  pid_t session = 0;
  bool operator==(const GroupIdentity&) const = default;
};

// IdentifyGroup describes the group that a living process leads.
GroupIdentity IdentifyGroup(const ProcessIdentity& leader);

// MembersOf returns the living processes that belong to the group for certain. As long as one of
// them lives the kernel gives the leader's pid to nobody else, so another process with that pid
// means that the whole group is gone. With the leader dead, a member must be of the leader's
// session and younger than the leader.
std::vector<ProcessIdentity> MembersOf(const GroupIdentity& group);

// KillGroup kills every member and waits until they are gone, at most limit; returns who still
// lives. Each is killed through a descriptor of its own, so that a reused pid is never hit.
std::vector<ProcessIdentity> KillGroup(const GroupIdentity& group, std::chrono::nanoseconds limit);

}  // namespace culprit::sys
