#pragma once

#include "host/knob.h"

namespace culprit::host {

inline constexpr std::string_view kPowerProfileId = "power-profile";

// MakePowerProfile returns the knob of power-profiles-daemon, through powerprofilesctl. Machines
// without the daemon are many; there Read fails.
std::unique_ptr<Knob> MakePowerProfile();

}  // namespace culprit::host
