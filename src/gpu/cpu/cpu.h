#pragma once

#include <memory>

#include "gpu/places.h"
#include "gpu/vendor.h"

namespace culprit::gpu {

// MakeCpuDevice reads this machine's processors, all together, through /proc and /sys.
//
// busy is the share of all cores, power that of all packages (its counter may be root's alone).
std::unique_ptr<Device> MakeCpuDevice(const Places& places);

}  // namespace culprit::gpu
