#include "gpu/nvidia/nvml.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>

namespace culprit::gpu {
namespace {

using base::ErrorCode;
using base::Fail;
using base::Result;
using base::Status;

// Find takes the first of names that the library has.
template <typename Function>
void Find(void* library, Function*& function, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (function == nullptr) function = reinterpret_cast<Function*>(::dlsym(library, name));
  }
}

nvml::Functions FindFunctions(void* library) {
  nvml::Functions f;
  Find(library, f.init, {"nvmlInit_v2"});
  Find(library, f.shutdown, {"nvmlShutdown"});
  Find(library, f.count, {"nvmlDeviceGetCount_v2"});
  Find(library, f.handle, {"nvmlDeviceGetHandleByIndex_v2"});
  Find(library, f.error_string, {"nvmlErrorString"});
  Find(library, f.driver_version, {"nvmlSystemGetDriverVersion"});
  Find(library, f.name, {"nvmlDeviceGetName"});
  Find(library, f.uuid, {"nvmlDeviceGetUUID"});
  Find(library, f.utilization, {"nvmlDeviceGetUtilizationRates"});
  Find(library, f.temperature, {"nvmlDeviceGetTemperature"});
  Find(library, f.power, {"nvmlDeviceGetPowerUsage"});
  Find(library, f.clock, {"nvmlDeviceGetClockInfo"});
  Find(library, f.throttle,
       {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"});
  Find(library, f.memory, {"nvmlDeviceGetMemoryInfo"});
  // The functions without a number fill a smaller struct, so they are no way out.
  Find(library, f.compute_processes,
       {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"});
  Find(library, f.graphics_processes,
       {"nvmlDeviceGetGraphicsRunningProcesses_v3", "nvmlDeviceGetGraphicsRunningProcesses_v2"});
  return f;
}

}  // namespace

Result<std::shared_ptr<const Nvml>> Nvml::Load(const std::string& library) {
  void* handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* why = ::dlerror();
    return Fail(ErrorCode::kNotFound, why == nullptr ? "cannot be loaded" : why, library);
  }
  std::shared_ptr<Nvml> nvml(new Nvml(handle));
  if (auto started = nvml->Start(); !started) {
    return Fail(std::move(started.error()).In(library));
  }
  return nvml;
}

Status Nvml::Start() {
  functions_ = FindFunctions(library_);
  const nvml::Functions& f = functions_;
  if (f.init == nullptr || f.shutdown == nullptr || f.count == nullptr || f.handle == nullptr) {
    return Fail(ErrorCode::kUnreadable, "lacks the functions that every NVML has");
  }
  const nvml::Return code = f.init();
  started_ = code == nvml::kSuccess;
  if (started_) return {};
  const char* why = f.error_string == nullptr ? nullptr : f.error_string(code);
  return Fail(
      ErrorCode::kUnreadable,
      fmt::format("cannot be started: {} (code {})", why == nullptr ? "no reason" : why, code), "",
      "does nvidia-smi work?");
}

Nvml::~Nvml() {
  if (started_) functions_.shutdown();
  ::dlclose(library_);
}

std::vector<nvml::DeviceHandle> Nvml::Devices() const {
  unsigned int count = 0;
  if (functions_.count(&count) != nvml::kSuccess) return {};
  constexpr unsigned int kMost = 256;
  std::vector<nvml::DeviceHandle> devices;
  for (unsigned int i = 0; i < std::min(count, kMost); ++i) {
    nvml::DeviceHandle device = nullptr;
    // A GPU that this user may not see is counted and refused.
    if (functions_.handle(i, &device) == nvml::kSuccess) devices.push_back(device);
  }
  return devices;
}

std::optional<std::string> Nvml::DriverVersion() const {
  std::array<char, 80> text{};
  if (functions_.driver_version == nullptr) return std::nullopt;
  if (functions_.driver_version(text.data(), text.size() - 1) != nvml::kSuccess) {
    return std::nullopt;
  }
  return std::string(text.data());
}

}  // namespace culprit::gpu
