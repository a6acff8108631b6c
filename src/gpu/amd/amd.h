#pragma once

#include <memory>
#include <vector>

#include "gpu/places.h"
#include "gpu/vendor.h"

namespace culprit::gpu {

// FindAmdDevices lists the cards that amdgpu drives, read through its files in /sys alone.
//
// Processes are those that have /dev/kfd open, the same for every card: ROCm opens all of them.
// One in another pid namespace (culprit inside a container) and one that draws without computing
// are not seen; what they do shows in busy.
// Sources: Documentation/gpu/amdgpu of Linux; facts of a Strix Halo under ROCm 7.2.
std::vector<std::unique_ptr<Device>> FindAmdDevices(const Places& places);

}  // namespace culprit::gpu
