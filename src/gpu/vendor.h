#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "gpu/units.h"

namespace culprit::gpu {

enum class Vendor { kAmd, kNvidia, kCpu };

// Name is what people call it: "AMD", "NVIDIA", "CPU".
std::string_view Name(Vendor vendor);

// Reading is what a device says of itself at one instant.
//
// Every field is absent when the device does not say it, never 0. time is what the caller passed
// to Read, on the caller's clock. A field that a device only counts (a CPU's busy share, its power,
// most throttle reasons) covers the time since the reading before and is absent in the first.
// memory_used is video memory, with an AMD device also what it maps of the host's (an APU keeps
// its model there), with a CPU the memory of the machine that is not available.
// throttle names what holds the clocks down: present and empty means nothing does. Which of them
// void a sample is the caller's to say: a power limit is the normal state of a busy APU.
struct Reading {
  base::HostTime time;
  std::optional<base::Fraction> busy;
  std::optional<Celsius> temperature;
  std::optional<Watts> power;
  std::optional<Megahertz> core_clock;
  std::optional<Megahertz> memory_clock;
  std::optional<Bytes> memory_used;
  std::optional<std::vector<std::string>> throttle;
  bool operator==(const Reading&) const = default;
};

// DeviceInfo is what does not change while the machine runs. Texts are hostile until printed.
struct DeviceInfo {
  Vendor vendor;
  std::string name;
  std::string id;                     // PCI address (AMD), UUID (NVIDIA), "cpu"
  std::optional<std::string> driver;  // its version
  bool operator==(const DeviceInfo&) const = default;
};

// Device is an accelerator, or the CPU of a machine without one. It remembers counters from one
// reading to the next, so one thread at a time may use it.
class Device {
 public:
  explicit Device(DeviceInfo info) : info_(std::move(info)) {}
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  virtual ~Device() = default;

  [[nodiscard]] const DeviceInfo& info() const { return info_; }
  virtual Reading Read(base::HostTime now) = 0;
  // Processes lists who has the device open, sorted, living processes only; absent when the device
  // does not say. Nobody needs to open a CPU: its list is empty.
  virtual std::optional<std::vector<pid_t>> Processes() = 0;

 private:
  DeviceInfo info_;
};

}  // namespace culprit::gpu
