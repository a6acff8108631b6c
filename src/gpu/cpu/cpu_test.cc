#include "gpu/cpu/cpu.h"

#include <gtest/gtest.h>

#include "gpu/fake_machine.h"

namespace culprit::gpu {
namespace {

using std::chrono::seconds;

class Cpu : public testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<Device> Make() const { return MakeCpuDevice(machine_.places()); }
  const FakeMachine machine_;
};

TEST_F(Cpu, IsNamedByItsModel) {
  machine_.Write("proc/sys/kernel/osrelease", "6.1.0-18-amd64\n");
  machine_.Write("proc/cpuinfo", "processor\t: 0\nmodel name\t: AMD EPYC 9654\nflags\t: fpu\n");
  EXPECT_EQ(Make()->info(), (DeviceInfo{Vendor::kCpu, "AMD EPYC 9654", "cpu", "6.1.0-18-amd64"}));
  machine_.Write("proc/cpuinfo", "processor\t: 0\nBogoMIPS\t: 50.00\n");
  EXPECT_EQ(Make()->info().name, "CPU");
}

TEST_F(Cpu, BusyIsTheShareBetweenTwoReadings) {
  machine_.Write("proc/stat", "cpu  100 0 50 800 50 0 0 0 7 0\ncpu0 1 2 3\n");
  const auto device = Make();
  EXPECT_EQ(device->Read(At(seconds(0))).busy, std::nullopt);
  // 30 user, 10 system, 10 stolen; 40 idle, 10 waiting for the disk
  machine_.Write("proc/stat", "cpu  130 0 60 840 60 0 0 10 9 0\n");
  EXPECT_EQ(device->Read(At(seconds(1))).busy, base::Fraction(0.5));
  EXPECT_EQ(device->Read(At(seconds(2))).busy, std::nullopt) << "no time has passed";
  for (const char* text : {"", "cpu  1 2 3\n", "cpu  a b c d e f g h\n", "cpu0 1 2 3 4 5 6 7 8"}) {
    machine_.Write("proc/stat", text);
    EXPECT_EQ(device->Read(At(seconds(3))).busy, std::nullopt) << text;
  }
}

TEST_F(Cpu, PowerIsTheEnergyOfAllPackagesAndSurvivesWrapAround) {
  const std::string zones = "sys/class/powercap/";
  for (const char* zone : {"intel-rapl:0", "intel-rapl:1"}) {
    machine_.Write(zones + zone + "/name", std::string("package-") + zone[11] + "\n");
    machine_.Write(zones + zone + "/energy_uj", "1000000\n");
    machine_.Write(zones + zone + "/max_energy_range_uj", "262143000000\n");
  }
  machine_.Write(zones + "intel-rapl:2/name", "psys\n");
  machine_.Write(zones + "intel-rapl:2/energy_uj", "5\n");
  machine_.Write(zones + "intel-rapl:0:0/energy_uj", "5\n");
  const auto device = Make();
  EXPECT_EQ(device->Read(At(seconds(0))).power, std::nullopt);
  machine_.Write(zones + "intel-rapl:0/energy_uj", "41000000\n");
  machine_.Write(zones + "intel-rapl:1/energy_uj", "21000000\n");
  EXPECT_EQ(device->Read(At(seconds(2))).power, Watts(30));
  machine_.Write(zones + "intel-rapl:0/energy_uj", "1000000\n");
  EXPECT_EQ(device->Read(At(seconds(3))).power, Watts(262103))
      << "40 J before the end of the range";
  machine_.Remove(zones + "intel-rapl:1/energy_uj");
  EXPECT_EQ(device->Read(At(seconds(4))).power, std::nullopt) << "half the power is not the power";
}

TEST_F(Cpu, TemperatureComesFromTheProcessorsOwnSensor) {
  machine_.Write("sys/class/thermal/thermal_zone0/type", "acpitz\n");
  machine_.Write("sys/class/thermal/thermal_zone0/temp", "20000\n");
  EXPECT_EQ(Make()->Read(At(seconds(0))).temperature, std::nullopt);
  machine_.Write("sys/class/thermal/thermal_zone1/type", "x86_pkg_temp\n");
  machine_.Write("sys/class/thermal/thermal_zone1/temp", "61000\n");
  EXPECT_EQ(Make()->Read(At(seconds(0))).temperature, Celsius(61));
  machine_.Write("sys/class/hwmon/hwmon0/name", "nvme\n");
  machine_.Write("sys/class/hwmon/hwmon0/temp1_input", "30000\n");
  machine_.Write("sys/class/hwmon/hwmon3/name", "k10temp\n");
  machine_.Write("sys/class/hwmon/hwmon3/temp1_input", "62500\n");
  EXPECT_EQ(Make()->Read(At(seconds(0))).temperature, Celsius(62.5));
}

TEST_F(Cpu, ClockIsTheMeanAndMemoryWhatIsNotAvailable) {
  machine_.Write("proc/meminfo", "MemTotal:  4000 kB\nMemFree: 1 kB\nMemAvailable:   1000 kB\n");
  machine_.Write("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "3000000\n");
  machine_.Write("sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "2000000\n");
  machine_.Write("sys/devices/system/cpu/cpufreq/x", "");
  EXPECT_EQ(Make()->Read(At(seconds(0))), (Reading{.time = At(seconds(0)),
                                                   .core_clock = Megahertz(2500),
                                                   .memory_used = Bytes(3000.0 * 1024)}));
}

TEST_F(Cpu, ThrottlesWhenACounterGrows) {
  const std::string core = "sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count";
  machine_.Write("sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "90\n");
  machine_.Write("sys/devices/system/cpu/cpu0/thermal_throttle/package_throttle_count", "9\n");
  machine_.Write(core, "3\n");
  const auto device = Make();
  EXPECT_EQ(device->Read(At(seconds(0))).throttle, std::nullopt);
  EXPECT_EQ(device->Read(At(seconds(1))).throttle, std::vector<std::string>());
  machine_.Write(core, "4\n");
  EXPECT_EQ(device->Read(At(seconds(2))).throttle, std::vector<std::string>{"thermal_core"});
  EXPECT_EQ(device->Read(At(seconds(3))).throttle, std::vector<std::string>());
}

TEST_F(Cpu, ABareMachineSaysNothing) {
  EXPECT_EQ(Make()->Read(At(seconds(5))), (Reading{.time = At(seconds(5))}));
  EXPECT_EQ(Make()->Processes(), std::vector<pid_t>());
}

}  // namespace
}  // namespace culprit::gpu
