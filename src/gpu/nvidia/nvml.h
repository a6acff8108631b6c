#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace culprit::gpu {

// The part of NVML's C interface that we call, declared here so that nothing of NVIDIA's is needed
// to build. Source: NVML API Reference, r535 to r580; names, codes and layouts as seen on an H200
// with driver 580.159.04.
namespace nvml {
using Return = int;
inline constexpr Return kSuccess = 0;
inline constexpr Return kInsufficientSize = 7;
using DeviceHandle = void*;
struct Utilization {
  unsigned int gpu;  // percent
  unsigned int memory;
};
struct Memory {
  unsigned long long total;  // bytes
  unsigned long long free;
  unsigned long long used;
};
struct ProcessInfo {  // of the functions _v2 and _v3
  unsigned int pid;
  unsigned long long used_memory;
  unsigned int gpu_instance;
  unsigned int compute_instance;
};
static_assert(sizeof(ProcessInfo) == 24);
inline constexpr unsigned int kTemperatureGpu = 0;
inline constexpr unsigned int kClockSm = 1;
inline constexpr unsigned int kClockMemory = 2;

// Functions are the symbols found; each but the first four may be null in an old driver.
struct Functions {
  Return (*init)() = nullptr;
  Return (*shutdown)() = nullptr;
  Return (*count)(unsigned int*) = nullptr;
  Return (*handle)(unsigned int, DeviceHandle*) = nullptr;
  const char* (*error_string)(Return) = nullptr;
  Return (*driver_version)(char*, unsigned int) = nullptr;
  Return (*name)(DeviceHandle, char*, unsigned int) = nullptr;
  Return (*uuid)(DeviceHandle, char*, unsigned int) = nullptr;
  Return (*utilization)(DeviceHandle, Utilization*) = nullptr;
  Return (*temperature)(DeviceHandle, unsigned int, unsigned int*) = nullptr;
  Return (*power)(DeviceHandle, unsigned int*) = nullptr;  // mW
  Return (*clock)(DeviceHandle, unsigned int, unsigned int*) = nullptr;
  Return (*throttle)(DeviceHandle, unsigned long long*) = nullptr;
  Return (*memory)(DeviceHandle, Memory*) = nullptr;
  Return (*compute_processes)(DeviceHandle, unsigned int*, ProcessInfo*) = nullptr;
  Return (*graphics_processes)(DeviceHandle, unsigned int*, ProcessInfo*) = nullptr;
};
}  // namespace nvml

// Nvml is NVIDIA's management library, loaded at run time and initialized; devices share it.
class Nvml {
 public:
  // Load fails with kNotFound when the library cannot be loaded (as a rule: no NVIDIA driver), with
  // kUnreadable when it can and does not work: a function that it must have is missing, or it
  // refuses to start.
  static base::Result<std::shared_ptr<const Nvml>> Load(const std::string& library);
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;
  ~Nvml();

  [[nodiscard]] std::vector<nvml::DeviceHandle> Devices() const;
  [[nodiscard]] std::optional<std::string> DriverVersion() const;
  [[nodiscard]] const nvml::Functions& functions() const { return functions_; }

 private:
  explicit Nvml(void* library) : library_(library) {}
  base::Status Start();

  void* library_;
  bool started_ = false;
  nvml::Functions functions_;
};

}  // namespace culprit::gpu
