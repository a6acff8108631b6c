#include "gpu/cpu/cpu.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/parse_number.h"
#include "gpu/attribute.h"
#include "sys/text_file.h"

namespace culprit::gpu {
namespace {

constexpr const char* kCoreThrottle = "/thermal_throttle/core_throttle_count";
constexpr const char* kPackageThrottle = "/thermal_throttle/package_throttle_count";

struct BusyTicks {
  std::int64_t busy = 0;
  std::int64_t all = 0;
};

// cpu  1710877 123781 185872 338000 1889 0 693 595 0 0
//      user    nice   system idle   iowait irq softirq steal; guest time is in user already
std::optional<BusyTicks> ParseBusy(std::string_view stat) {
  stat = stat.substr(0, stat.find('\n'));
  if (!stat.starts_with("cpu  ")) return std::nullopt;
  stat.remove_prefix(5);
  BusyTicks ticks;
  for (int field = 0; field < 8; ++field) {
    const std::size_t end = stat.find(' ');
    const auto number = base::ParseNumber(stat.substr(0, end));
    constexpr std::int64_t kMost = std::int64_t{1} << 56;  // eight of them can be added
    if (!number || *number < 0 || *number > kMost) return std::nullopt;
    ticks.all += *number;
    const bool idle = field == 3 || field == 4;
    if (!idle) ticks.busy += *number;
    stat = end == std::string_view::npos ? std::string_view() : stat.substr(end + 1);
  }
  return ticks;
}

// MemAvailable:    3906252 kB
std::optional<std::int64_t> MemoryLine(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = text.substr(at + key.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  return base::ParseNumber(rest.substr(0, rest.find(' ')));
}

// Keep adds a file that holds a number to those that each reading looks at.
void Keep(std::vector<std::string>& paths, std::string path) {
  if (ReadNumber(path)) paths.push_back(std::move(path));
}

class CpuDevice final : public Device {
 public:
  CpuDevice(DeviceInfo info, Places places)
      : Device(std::move(info)), places_(std::move(places)), temperature_(FindTemperature()) {
    for (const std::string& cpu : NumberedEntries(places_.sys + "/devices/system/cpu", "cpu")) {
      Keep(clocks_, cpu + "/cpufreq/scaling_cur_freq");
      Keep(throttles_, cpu + kCoreThrottle);
      Keep(throttles_, cpu + kPackageThrottle);
    }
    for (const std::string& zone :
         NumberedEntries(places_.sys + "/class/powercap", "intel-rapl:")) {
      const auto name = ReadAttribute(zone + "/name");
      if (name && name->starts_with("package")) packages_.push_back(zone);
    }
  }
  Reading Read(base::HostTime now) override;
  std::optional<std::vector<pid_t>> Processes() override { return std::vector<pid_t>(); }

 private:
  [[nodiscard]] std::string FindTemperature() const;
  [[nodiscard]] std::optional<Bytes> MemoryUsed() const;
  [[nodiscard]] std::optional<Megahertz> Clock() const;
  std::optional<base::Fraction> Busy();
  std::optional<Watts> Power(base::HostTime now);
  std::optional<std::vector<std::string>> Throttle();

  struct Energy {
    base::HostTime time;
    std::vector<std::int64_t> microjoules;  // one a package
  };
  Places places_;
  std::string temperature_;  // empty when there is none
  std::vector<std::string> clocks_, packages_, throttles_;
  std::optional<BusyTicks> busy_before_;
  std::optional<Energy> energy_before_;
  std::map<std::string, std::int64_t> throttle_before_;
};

std::string CpuDevice::FindTemperature() const {
  constexpr std::array<std::string_view, 3> kMonitors = {"coretemp", "k10temp", "zenpower"};
  for (const std::string& folder : NumberedEntries(places_.sys + "/class/hwmon", "hwmon")) {
    const std::string name = ReadAttribute(folder + "/name").value_or("");
    if (std::count(kMonitors.begin(), kMonitors.end(), name) > 0) return folder + "/temp1_input";
  }
  for (const std::string& zone : NumberedEntries(places_.sys + "/class/thermal", "thermal_zone")) {
    const std::string type = ReadAttribute(zone + "/type").value_or("");
    if (type == "x86_pkg_temp" || type.starts_with("cpu")) return zone + "/temp";
  }
  return "";
}

std::optional<base::Fraction> CpuDevice::Busy() {
  const auto text = sys::ReadText(places_.proc + "/stat");
  const auto now = text ? ParseBusy(*text) : std::nullopt;
  const auto before = std::exchange(busy_before_, now);
  if (!now || !before || now->all <= before->all) return std::nullopt;
  const double busy = static_cast<double>(now->busy - before->busy);
  // The kernel lets iowait fall at times, so the share can leave [0, 1] a little.
  return base::Fraction(std::clamp(busy / static_cast<double>(now->all - before->all), 0.0, 1.0));
}

std::optional<Bytes> CpuDevice::MemoryUsed() const {
  const auto text = sys::ReadText(places_.proc + "/meminfo");
  if (!text) return std::nullopt;
  const auto total = MemoryLine(*text, "MemTotal:");
  const auto available = MemoryLine(*text, "MemAvailable:");
  if (!total || !available) return std::nullopt;
  return Bytes((static_cast<double>(*total) - static_cast<double>(*available)) * 1024);
}

std::optional<Megahertz> CpuDevice::Clock() const {
  // Asking a core for its clock can wake it, so of many cores no more than 16 are asked.
  const std::size_t step = clocks_.size() / 16 + 1;
  double sum = 0;
  double count = 0;
  for (std::size_t i = 0; i < clocks_.size(); i += step) {
    const auto clock = ReadScaled<Megahertz>(clocks_[i], 1e-3);  // kHz
    if (!clock) continue;
    sum += clock->value();
    ++count;
  }
  if (count == 0) return std::nullopt;
  return Megahertz(sum / count);
}

std::optional<Watts> CpuDevice::Power(base::HostTime now) {
  Energy energy{now, {}};
  for (const std::string& package : packages_) {
    const auto counter = ReadNumber(package + "/energy_uj");
    if (counter) energy.microjoules.push_back(*counter);
  }
  const bool complete = !packages_.empty() && energy.microjoules.size() == packages_.size();
  const auto before =
      std::exchange(energy_before_, complete ? std::optional(energy) : std::nullopt);
  if (!complete || !before || now <= before->time) return std::nullopt;
  double used = 0;
  for (std::size_t i = 0; i < packages_.size(); ++i) {
    double grown =
        static_cast<double>(energy.microjoules[i]) - static_cast<double>(before->microjoules[i]);
    if (grown < 0) {  // wrapped around
      const auto range = ReadNumber(packages_[i] + "/max_energy_range_uj");
      if (!range) return std::nullopt;
      grown += static_cast<double>(*range);
    }
    if (grown < 0) return std::nullopt;
    used += grown;
  }
  return Joules(used * 1e-6) / (now - before->time);
}

std::optional<std::vector<std::string>> CpuDevice::Throttle() {
  std::map<std::string, std::int64_t> now;
  for (const std::string& path : throttles_) {
    if (const auto count = ReadNumber(path)) now.emplace(path, *count);
  }
  const auto before = std::exchange(throttle_before_, now);
  if (now.empty() || before.empty()) return std::nullopt;
  bool core = false;
  bool package = false;
  for (const auto& [path, count] : now) {
    const auto it = before.find(path);
    if (it == before.end() || count == it->second) continue;
    (path.ends_with(kCoreThrottle) ? core : package) = true;
  }
  std::vector<std::string> names;
  if (core) names.emplace_back("thermal_core");
  if (package) names.emplace_back("thermal_package");
  return names;
}

Reading CpuDevice::Read(base::HostTime now) {
  Reading reading{.time = now};
  reading.busy = Busy();
  if (!temperature_.empty()) reading.temperature = ReadScaled<Celsius>(temperature_, 1e-3);
  reading.power = Power(now);
  reading.core_clock = Clock();
  reading.memory_used = MemoryUsed();
  reading.throttle = Throttle();
  return reading;
}

// model name	: AMD RYZEN AI MAX+ 395 w/ Radeon 8060S
std::string CpuName(const Places& places) {
  const std::string text = sys::ReadText(places.proc + "/cpuinfo").value_or("");
  const std::size_t at = text.find("model name");
  const std::size_t colon = at == std::string::npos ? at : text.find(": ", at);
  if (colon == std::string::npos) return "CPU";
  return text.substr(colon + 2, text.find('\n', colon) - colon - 2);
}

}  // namespace

std::unique_ptr<Device> MakeCpuDevice(const Places& places) {
  DeviceInfo info{Vendor::kCpu, CpuName(places), "cpu",
                  ReadAttribute(places.proc + "/sys/kernel/osrelease")};
  return std::make_unique<CpuDevice>(std::move(info), places);
}

}  // namespace culprit::gpu
