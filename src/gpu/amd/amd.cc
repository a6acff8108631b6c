#include "gpu/amd/amd.h"

#include <fmt/format.h>

#include <filesystem>
#include <limits>
#include <system_error>

#include "base/parse_number.h"
#include "gpu/amd/gpu_metrics.h"
#include "gpu/attribute.h"
#include "sys/process_stat.h"
#include "sys/text_file.h"

namespace culprit::gpu {
namespace {

constexpr double kMicro = 1e-6;

class AmdDevice final : public Device {
 public:
  AmdDevice(DeviceInfo info, std::string folder, Places places)
      : Device(std::move(info)), folder_(std::move(folder)), places_(std::move(places)) {
    const auto monitors = NumberedEntries(folder_ + "/hwmon", "hwmon");
    if (!monitors.empty()) monitor_ = monitors.front();
  }
  Reading Read(base::HostTime now) override;
  std::optional<std::vector<pid_t>> Processes() override;

 private:
  [[nodiscard]] std::optional<Megahertz> Clock(const char* frequency, const char* levels) const;

  std::string folder_;   // /sys/class/drm/card0/device
  std::string monitor_;  // its hwmon folder; empty when there is none
  Places places_;
  AmdThrottle throttle_;
};

// 0: 600Mhz
// 1: 2900Mhz *
std::optional<Megahertz> ActiveLevel(std::string_view levels) {
  const std::size_t star = levels.find('*');
  if (star == std::string_view::npos) return std::nullopt;
  std::string_view line = levels.substr(0, star);
  line.remove_prefix(line.rfind('\n') == std::string_view::npos ? 0 : line.rfind('\n') + 1);
  const std::size_t begin = line.find(": ");
  const std::size_t end = line.find("Mhz");
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin + 2)
    return {};
  const auto megahertz = base::ParseNumber(line.substr(begin + 2, end - begin - 2));
  if (!megahertz) return std::nullopt;
  return Megahertz(static_cast<double>(*megahertz));
}

std::optional<Megahertz> AmdDevice::Clock(const char* frequency, const char* levels) const {
  if (const auto clock = ReadScaled<Megahertz>(monitor_ + frequency, kMicro)) return clock;
  const auto text = sys::ReadText(folder_ + levels);
  return text ? ActiveLevel(*text) : std::nullopt;
}

Reading AmdDevice::Read(base::HostTime now) {
  Reading reading{.time = now};
  reading.busy = ReadScaled<base::Fraction>(folder_ + "/gpu_busy_percent", 0.01);
  reading.temperature = ReadScaled<Celsius>(monitor_ + "/temp1_input", 1e-3);
  reading.power = ReadScaled<Watts>(monitor_ + "/power1_average", kMicro);
  if (!reading.power) reading.power = ReadScaled<Watts>(monitor_ + "/power1_input", kMicro);
  reading.core_clock = Clock("/freq1_input", "/pp_dpm_sclk");
  reading.memory_clock = Clock("/freq2_input", "/pp_dpm_mclk");
  const auto video = ReadScaled<Bytes>(folder_ + "/mem_info_vram_used", 1);
  const auto mapped = ReadScaled<Bytes>(folder_ + "/mem_info_gtt_used", 1);
  if (video || mapped) reading.memory_used = video.value_or(Bytes(0)) + mapped.value_or(Bytes(0));
  if (const auto metrics = sys::ReadText(folder_ + "/gpu_metrics")) {
    reading.throttle = throttle_.Reasons(*metrics);
  }
  return reading;
}

std::optional<std::vector<pid_t>> AmdDevice::Processes() {
  const std::string users = places_.sys + "/class/kfd/kfd/proc";
  std::error_code ignored;
  if (!std::filesystem::is_directory(users, ignored)) return std::nullopt;
  std::vector<pid_t> pids;
  for (const std::string& folder : NumberedEntries(users, "")) {
    const auto number = base::ParseNumber(folder.substr(folder.rfind('/') + 1));
    if (!number || *number > std::numeric_limits<pid_t>::max()) continue;
    const auto pid = static_cast<pid_t>(*number);
    // An entry can outlive its process.
    if (sys::ReadProcessStat(pid, places_.proc)) pids.push_back(pid);
  }
  return pids;
}

// DRIVER=amdgpu
// PCI_SLOT_NAME=0000:c5:00.0
std::string PciAddress(const std::string& folder) {
  constexpr std::string_view kKey = "PCI_SLOT_NAME=";
  const std::string text = sys::ReadText(folder + "/uevent").value_or("");
  const std::size_t at = text.find(kKey);
  if (at == std::string::npos) return folder;
  const std::size_t begin = at + kKey.size();
  return text.substr(begin, text.find('\n', begin) - begin);
}

std::string DeviceName(const std::string& folder) {
  if (auto name = ReadAttribute(folder + "/product_name")) return *std::move(name);
  return fmt::format("AMD GPU {}", ReadAttribute(folder + "/device").value_or("of unknown model"));
}

}  // namespace

std::vector<std::unique_ptr<Device>> FindAmdDevices(const Places& places) {
  auto driver = ReadAttribute(places.sys + "/module/amdgpu/version");  // not in every kernel
  if (!driver) driver = ReadAttribute(places.proc + "/sys/kernel/osrelease");
  std::vector<std::unique_ptr<Device>> devices;
  for (const std::string& card : NumberedEntries(places.sys + "/class/drm", "card")) {
    const std::string folder = card + "/device";
    if (ReadAttribute(folder + "/vendor") != "0x1002") continue;
    DeviceInfo info{Vendor::kAmd, DeviceName(folder), PciAddress(folder), driver};
    devices.push_back(std::make_unique<AmdDevice>(std::move(info), folder, places));
  }
  return devices;
}

}  // namespace culprit::gpu
