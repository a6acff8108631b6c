#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "gpu/places.h"
#include "gpu/vendor.h"

namespace culprit::gpu {

// FindNvidiaDevices lists the GPUs that NVML knows. None and no error without NVIDIA's driver;
// fails when the driver is there and NVML is missing (kNotFound) or does not work (kUnreadable).
//
// What NVML does not support on a device, or refuses, is absent from its readings. Processes are
// those that compute or draw; those of another pid namespace are not seen.
base::Result<std::vector<std::unique_ptr<Device>>> FindNvidiaDevices(const Places& places);

}  // namespace culprit::gpu
