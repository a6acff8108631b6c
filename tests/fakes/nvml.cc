// A library that looks like NVML, for the tests of src/gpu/nvidia. It knows two GPUs: the first
// says everything, the second nothing (code 3, not supported).
//
// FAKE_NVML_OLD: an old driver, without the _v3 and EventReasons functions.
// FAKE_NVML_BROKEN: refuses to start. FAKE_NVML_FOREIGN: has none of NVML's functions.
#include <cstdio>
#include <cstring>

namespace {
constexpr int kNotSupported = 3;
constexpr int kInsufficientSize = 7;
constexpr int kMismatch = 18;
int starts = 0;
int gpus[2];

bool SaysNothing(void* device) { return device != &gpus[0]; }

int Text(char* out, unsigned int length, const char* text) {
  if (std::strlen(text) >= length) return kInsufficientSize;
  std::strcpy(out, text);
  return 0;
}

template <typename Value>
int Give(void* device, Value* out, Value value) {
  if (SaysNothing(device)) return kNotSupported;
  *out = value;
  return 0;
}

struct Process {
  unsigned int pid;
  unsigned long long memory;
  unsigned int instance, compute_instance;
};

int Processes(void* device, unsigned int* count, Process* out, unsigned int first,
              unsigned int number) {
  if (SaysNothing(device)) return kNotSupported;
  const bool fits = number <= *count;
  *count = number;
  if (!fits) return kInsufficientSize;
  for (unsigned int i = 0; i < number; ++i) out[i] = {first + i, 1 << 20, ~0U, ~0U};
  return 0;
}
}  // namespace

extern "C" {
// FakeNvmlStarts is how many times nvmlInit_v2 was called without nvmlShutdown.
int FakeNvmlStarts() { return starts; }

#ifndef FAKE_NVML_FOREIGN
#ifdef FAKE_NVML_BROKEN
int nvmlInit_v2() { return kMismatch; }
#else
int nvmlInit_v2() {
  ++starts;
  return 0;
}
#endif
int nvmlShutdown() {
  --starts;
  return 0;
}
const char* nvmlErrorString(int code) {
  return code == kMismatch ? "Driver/library version mismatch" : "Unknown Error";
}
int nvmlSystemGetDriverVersion(char* out, unsigned int length) {
  return Text(out, length, "550.54.15");
}
int nvmlDeviceGetCount_v2(unsigned int* count) {
  *count = 3;  // the third may not be seen
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void** device) {
  if (index > 1) return 4;  // no permission
  *device = &gpus[index];
  return 0;
}
int nvmlDeviceGetName(void* device, char* out, unsigned int length) {
  return SaysNothing(device) ? kNotSupported : Text(out, length, "NVIDIA H200");
}
int nvmlDeviceGetUUID(void* device, char* out, unsigned int length) {
  return SaysNothing(device) ? kNotSupported : Text(out, length, "GPU-0123");
}
struct Utilization {
  unsigned int gpu, memory;
};
int nvmlDeviceGetUtilizationRates(void* device, Utilization* out) {
  return Give(device, out, {37, 12});
}
int nvmlDeviceGetTemperature(void* device, unsigned int sensor, unsigned int* out) {
  return sensor == 0 ? Give(device, out, 64U) : 2;
}
int nvmlDeviceGetPowerUsage(void* device, unsigned int* out) { return Give(device, out, 412500U); }
int nvmlDeviceGetClockInfo(void* device, unsigned int clock, unsigned int* out) {
  return Give(device, out, clock == 1 ? 1980U : clock == 2 ? 3201U : 7U);
}
struct Memory {
  unsigned long long total, free, used;
};
int nvmlDeviceGetMemoryInfo(void* device, Memory* out) { return Give(device, out, {100, 58, 42}); }

int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* out) {
  return Give(device, out, 0x48ULL);
}
int nvmlDeviceGetComputeRunningProcesses_v2(void* device, unsigned int* count, Process* out) {
  return Processes(device, count, out, 100, 2);
}
#ifndef FAKE_NVML_OLD
int nvmlDeviceGetCurrentClocksEventReasons(void* device, unsigned long long* out) {
  return Give(device, out, 0x105ULL);
}
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned int* count, Process* out) {
  return Processes(device, count, out, 200, 100);
}
int nvmlDeviceGetGraphicsRunningProcesses_v3(void* device, unsigned int* count, Process* out) {
  return Processes(device, count, out, 299, 3);
}
#endif
#endif
}
