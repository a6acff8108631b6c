#pragma once

#include <string_view>

#include "host/knob.h"

namespace culprit::host {

// ServiceScope says whose systemd a unit belongs to: the machine's, or that of the user.
enum class ServiceScope { kSystem, kUser };

// ServiceId is the id of a unit's knob: "service:system:qwen.service".
std::string ServiceId(ServiceScope scope, std::string_view unit);

inline constexpr std::string_view kRunning = "active";
inline constexpr std::string_view kStopped = "inactive";

// MakeService returns the knob of a systemd unit. Anything that is not on its way counts as
// kRunning when it is active, and as kStopped when it is inactive or failed. Writing goes through
// `sudo -n` when the user alone may not. Fails with kUsage when unit is no name of a unit.
//
// Changes are asked for with --no-block and then watched: so no command of ours hangs with a
// service that does, and a change that is still queued (its asker may have died) is seen as one.
base::Result<std::unique_ptr<Knob>> MakeService(ServiceScope scope, const std::string& unit,
                                                std::chrono::nanoseconds rest);

}  // namespace culprit::host
