#include "gpu/nvidia/nvidia.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include "gpu/nvidia/nvml.h"
#include "sys/process_stat.h"
#include "sys/text_file.h"

namespace culprit::gpu {
namespace {

using nvml::DeviceHandle;

// Bits of nvmlClocksEventReasons. Left out is what holds no clock down against its will: idle (1),
// clocks that somebody set (2, 0x100).
constexpr std::pair<unsigned long long, std::string_view> kReasons[] = {
    {0x04, "sw_power_cap"},        {0x08, "hw_slowdown"},         {0x10, "sync_boost"},
    {0x20, "sw_thermal_slowdown"}, {0x40, "hw_thermal_slowdown"}, {0x80, "hw_power_brake"},
};

// Ask calls a function of NVML that fills one value; absent when it is missing or says no.
template <typename Value>
std::optional<Value> Ask(nvml::Return (*function)(DeviceHandle, Value*), DeviceHandle device) {
  Value value{};
  if (function == nullptr || function(device, &value) != nvml::kSuccess) return std::nullopt;
  return value;
}

// AskOf is Ask for a function that serves several sensors or clocks.
std::optional<unsigned int> AskOf(nvml::Return (*function)(DeviceHandle, unsigned int,
                                                           unsigned int*),
                                  DeviceHandle device, unsigned int which) {
  unsigned int value = 0;
  if (function == nullptr || function(device, which, &value) != nvml::kSuccess) return {};
  return value;
}

std::optional<std::string> AskText(nvml::Return (*function)(DeviceHandle, char*, unsigned int),
                                   DeviceHandle device) {
  std::array<char, 128> text{};  // NVML's own limit is 96
  if (function == nullptr) return std::nullopt;
  if (function(device, text.data(), text.size() - 1) != nvml::kSuccess) return std::nullopt;
  return std::string(text.data());
}

using ProcessFunction = nvml::Return (*)(DeviceHandle, unsigned int*, nvml::ProcessInfo*);

// AskProcesses appends the pids that function lists; false when it does not say.
bool AskProcesses(ProcessFunction function, DeviceHandle device, std::vector<unsigned int>& pids) {
  if (function == nullptr) return false;
  constexpr std::size_t kMost = 1 << 16;
  for (std::size_t room = 64; room <= kMost; room *= 4) {
    // Twice the room: early r535 drivers wrote a larger struct. Its pids are then garbled, and no
    // process lives that has them.
    std::vector<nvml::ProcessInfo> found(room * 2);
    auto count = static_cast<unsigned int>(room);
    const nvml::Return code = function(device, &count, found.data());
    if (code == nvml::kInsufficientSize) continue;
    if (code != nvml::kSuccess) return false;
    found.resize(std::min<std::size_t>(count, room));
    for (const nvml::ProcessInfo& process : found) pids.push_back(process.pid);
    return true;
  }
  return false;
}

std::vector<std::string> ReasonNames(unsigned long long reasons) {
  std::vector<std::string> names;
  for (const auto& [bit, name] : kReasons) {
    if ((reasons & bit) != 0) names.emplace_back(name);
  }
  return names;
}

template <typename Quantity, typename Value>
std::optional<Quantity> Scaled(std::optional<Value> value, double unit) {
  if (!value) return std::nullopt;
  return Quantity(static_cast<double>(*value) * unit);
}

class NvidiaDevice final : public Device {
 public:
  NvidiaDevice(DeviceInfo info, std::shared_ptr<const Nvml> nvml, DeviceHandle handle,
               std::string proc)
      : Device(std::move(info)), nvml_(std::move(nvml)), handle_(handle), proc_(std::move(proc)) {}
  Reading Read(base::HostTime now) override;
  std::optional<std::vector<pid_t>> Processes() override;

 private:
  std::shared_ptr<const Nvml> nvml_;
  DeviceHandle handle_;
  std::string proc_;
};

Reading NvidiaDevice::Read(base::HostTime now) {
  const nvml::Functions& f = nvml_->functions();
  Reading reading{.time = now};
  if (const auto utilization = Ask(f.utilization, handle_)) {
    reading.busy = base::Fraction(utilization->gpu / 100.0);
  }
  reading.temperature = Scaled<Celsius>(AskOf(f.temperature, handle_, nvml::kTemperatureGpu), 1);
  reading.power = Scaled<Watts>(Ask(f.power, handle_), 1e-3);
  reading.core_clock = Scaled<Megahertz>(AskOf(f.clock, handle_, nvml::kClockSm), 1);
  reading.memory_clock = Scaled<Megahertz>(AskOf(f.clock, handle_, nvml::kClockMemory), 1);
  if (const auto memory = Ask(f.memory, handle_)) {
    reading.memory_used = Bytes(static_cast<double>(memory->used));
  }
  if (const auto reasons = Ask(f.throttle, handle_)) reading.throttle = ReasonNames(*reasons);
  return reading;
}

std::optional<std::vector<pid_t>> NvidiaDevice::Processes() {
  std::vector<unsigned int> listed;
  const bool compute = AskProcesses(nvml_->functions().compute_processes, handle_, listed);
  const bool graphics = AskProcesses(nvml_->functions().graphics_processes, handle_, listed);
  if (!compute && !graphics) return std::nullopt;
  std::sort(listed.begin(), listed.end());
  listed.erase(std::unique(listed.begin(), listed.end()), listed.end());
  std::vector<pid_t> pids;
  for (const unsigned int pid : listed) {
    if (pid > static_cast<unsigned int>(std::numeric_limits<pid_t>::max())) continue;
    if (sys::ReadProcessStat(static_cast<pid_t>(pid), proc_))
      pids.push_back(static_cast<pid_t>(pid));
  }
  return pids;
}

}  // namespace

base::Result<std::vector<std::unique_ptr<Device>>> FindNvidiaDevices(const Places& places) {
  std::vector<std::unique_ptr<Device>> devices;
  auto loaded = Nvml::Load(places.nvml);
  if (!loaded) {
    const bool driver = sys::ReadText(places.proc + "/driver/nvidia/version").has_value();
    if (!driver && loaded.error().code == base::ErrorCode::kNotFound) return devices;
    return base::Fail(std::move(loaded.error()));
  }
  const std::shared_ptr<const Nvml>& nvml = *loaded;
  for (const DeviceHandle handle : nvml->Devices()) {
    DeviceInfo info{Vendor::kNvidia, AskText(nvml->functions().name, handle).value_or("NVIDIA GPU"),
                    AskText(nvml->functions().uuid, handle).value_or("unknown"),
                    nvml->DriverVersion()};
    devices.push_back(std::make_unique<NvidiaDevice>(std::move(info), nvml, handle, places.proc));
  }
  return devices;
}

}  // namespace culprit::gpu
