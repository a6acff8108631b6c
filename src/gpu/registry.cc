#include "gpu/registry.h"

#include "gpu/amd/amd.h"
#include "gpu/cpu/cpu.h"
#include "gpu/nvidia/nvidia.h"

namespace culprit::gpu {

Devices FindDevices(const Places& places) {
  Devices found;
  found.devices = FindAmdDevices(places);
  if (auto nvidia = FindNvidiaDevices(places)) {
    for (auto& device : *nvidia) found.devices.push_back(std::move(device));
  } else {
    found.problems.push_back(std::move(nvidia.error()));
  }
  if (found.devices.empty()) found.devices.push_back(MakeCpuDevice(places));
  return found;
}

}  // namespace culprit::gpu
