#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "gpu/places.h"
#include "gpu/vendor.h"

namespace culprit::gpu {

// Devices are the accelerators of this machine, AMD's first, each vendor's in its own order; or
// its CPU alone when there is none. Never empty. problems has what kept a device from being found
// although its driver is there.
struct Devices {
  std::vector<std::unique_ptr<Device>> devices;
  std::vector<base::Error> problems;
};

Devices FindDevices(const Places& places = {});

}  // namespace culprit::gpu
