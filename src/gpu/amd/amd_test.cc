#include "gpu/amd/amd.h"

#include <gtest/gtest.h>

#include "gpu/fake_machine.h"

namespace culprit::gpu {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kCard = "sys/class/drm/card1/device/";

// A Strix Halo as Linux 6.17 shows it.
class Amd : public testing::Test {
 protected:
  Amd() {
    Write("vendor", "0x1002\n");
    Write("device", "0x1586\n");
    Write("uevent", "DRIVER=amdgpu\nPCI_CLASS=38000\nPCI_SLOT_NAME=0000:c5:00.0\n");
    Write("gpu_busy_percent", "37\n");
    Write("hwmon/hwmon5/temp1_input", "48250\n");
    Write("hwmon/hwmon5/power1_input", "32091000\n");
    Write("hwmon/hwmon5/freq1_input", "2871000000\n");
    Write("pp_dpm_mclk", "0: 400Mhz\n1: 800Mhz\n2: 1000Mhz *\n");
    Write("mem_info_vram_used", "536870912\n");
    Write("mem_info_gtt_used", "21474836480\n");
    machine_.Write("sys/class/drm/card1-DP-1/status", "connected\n");
    machine_.Write("proc/sys/kernel/osrelease", "6.17.0-1-amd64\n");
  }
  void Write(const std::string& file, std::string_view text) const {
    machine_.Write(kCard + file, text);
  }
  [[nodiscard]] std::unique_ptr<Device> Find() const {
    auto devices = FindAmdDevices(machine_.places());
    EXPECT_EQ(devices.size(), 1U);
    return devices.empty() ? nullptr : std::move(devices.front());
  }
  const FakeMachine machine_;
};

TEST_F(Amd, IsFoundAmongConnectorsAndOtherVendors) {
  machine_.Write("sys/class/drm/card0/device/vendor", "0x8086\n");
  EXPECT_EQ(Find()->info(),
            (DeviceInfo{Vendor::kAmd, "AMD GPU 0x1586", "0000:c5:00.0", "6.17.0-1-amd64"}));
  Write("product_name", "Instinct MI300X\n");
  machine_.Write("sys/module/amdgpu/version", "6.12.12\n");
  EXPECT_EQ(Find()->info(),
            (DeviceInfo{Vendor::kAmd, "Instinct MI300X", "0000:c5:00.0", "6.12.12"}));
}

TEST_F(Amd, SaysWhatItDoes) {
  const Reading reading = Find()->Read(At(seconds(7)));
  EXPECT_EQ(reading, (Reading{.time = At(seconds(7)),
                              .busy = base::Fraction(0.37),
                              .temperature = Celsius(48.25),
                              .power = Watts(32.091),
                              .core_clock = Megahertz(2871),
                              .memory_clock = Megahertz(1000),
                              .memory_used = Bytes(22011707392.0)}));
}

TEST_F(Amd, AveragePowerAndMeasuredClocksComeFirst) {
  Write("hwmon/hwmon5/power1_average", "30000000\n");
  Write("hwmon/hwmon5/freq2_input", "900000000\n");
  const Reading reading = Find()->Read(At(seconds(0)));
  EXPECT_EQ(reading.power, Watts(30));
  EXPECT_EQ(reading.memory_clock, Megahertz(900));
}

TEST_F(Amd, IsSilentAboutWhatTheDriverDoesNotOffer) {
  machine_.Remove(kCard);
  Write("vendor", "0x1002\n");
  const auto device = Find();
  EXPECT_EQ(device->Read(At(seconds(1))), (Reading{.time = At(seconds(1))}));
  EXPECT_EQ(device->Processes(), std::nullopt) << "no /dev/kfd: not known, which is not nobody";
}

TEST_F(Amd, ListsProcessesThatLiveAndNotTheirLeftovers) {
  for (const char* pid : {"4711", "300", "20", "self", "99999999999"}) {
    machine_.Write(std::string("sys/class/kfd/kfd/proc/") + pid + "/pasid", "32769\n");
  }
  machine_.Run(4711, "llama-server", 1, 4711, 0);
  machine_.Run(300, "python3", 1, 300, 0);
  EXPECT_EQ(Find()->Processes(), (std::vector<pid_t>{300, 4711}));
}

TEST_F(Amd, ClockLevelsWithoutAnActiveOneAreNoClock) {
  for (const char* levels : {"", "*", "0: 400Mhz\n", "0: *", "0 400Mhz *", "0: xMhz *"}) {
    Write("pp_dpm_mclk", levels);
    EXPECT_EQ(Find()->Read(At(seconds(0))).memory_clock, std::nullopt) << levels;
  }
}

// Metrics makes a gpu_metrics file with one number in it.
template <typename T>
std::string Metrics(std::uint16_t size, char format, char content, std::size_t offset, T value) {
  std::string bytes(size, '\0');
  bytes.replace(0, 2, reinterpret_cast<const char*>(&size), 2);
  bytes[2] = format;
  bytes[3] = content;
  bytes.replace(offset, sizeof value, reinterpret_cast<const char*>(&value), sizeof value);
  return bytes;
}

using Names = std::optional<std::vector<std::string>>;

TEST_F(Amd, ThrottleStatusIsReadFromVersionsThatHaveOneMeaning) {
  const std::uint64_t status = std::uint64_t{1} << 6 | std::uint64_t{1} << 36;
  const Names both = std::vector<std::string>{"slow_power", "thermal_hotspot"};
  const std::tuple<std::string, Names> cases[] = {
      {Metrics(120, 1, 3, 112, status), both},
      {Metrics(128, 2, 2, 120, status), both},
      {Metrics(152, 2, 3, 120, status), both},
      {Metrics(128, 2, 2, 120, std::uint64_t{0}), std::vector<std::string>()},
      {Metrics(128, 2, 2, 120, ~std::uint64_t{0}), std::nullopt},
      {Metrics(120, 1, 2, 112, status), std::nullopt},
      {Metrics(128, 2, 1, 120, status), std::nullopt},
      {Metrics(264, 3, 1, 120, status), std::nullopt},
      {Metrics(128, 2, 2, 120, status).substr(0, 127), std::nullopt},
      {"abc", std::nullopt},
      {"", std::nullopt},
  };
  for (const auto& [metrics, names] : cases) {
    Write("gpu_metrics", metrics);
    EXPECT_EQ(Find()->Read(At(seconds(0))).throttle, names) << metrics.size();
  }
}

TEST_F(Amd, ThrottleCountersOfStrixHaloThrottleWhileTheyGrow) {
  const auto device = Find();
  Write("gpu_metrics", Metrics(264, 3, 0, 248, std::uint32_t{306735}));
  EXPECT_EQ(device->Read(At(milliseconds(0))).throttle, std::nullopt);
  EXPECT_EQ(device->Read(At(milliseconds(200))).throttle, std::vector<std::string>());
  Write("gpu_metrics", Metrics(264, 3, 0, 248, std::uint32_t{306801}));
  EXPECT_EQ(device->Read(At(milliseconds(400))).throttle, std::vector<std::string>{"thermal_gfx"});
  EXPECT_EQ(device->Read(At(milliseconds(600))).throttle, std::vector<std::string>());
}

}  // namespace
}  // namespace culprit::gpu
