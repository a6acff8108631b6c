#include "gpu/registry.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "gpu/fake_machine.h"

namespace culprit::gpu {
namespace {

using std::chrono::seconds;

std::vector<std::string> Vendors(const Devices& devices) {
  std::vector<std::string> vendors;
  for (const auto& device : devices.devices) vendors.emplace_back(Name(device->info().vendor));
  return vendors;
}

TEST(Registry, FindsEveryAcceleratorOrElseTheCpu) {
  FakeMachine machine;
  EXPECT_EQ(Vendors(FindDevices(machine.places())), std::vector<std::string>{"CPU"});
  machine.Write("sys/class/drm/card0/device/vendor", "0x1002\n");
  machine.SetNvml(FAKE_NVML_CURRENT);
  EXPECT_EQ(Vendors(FindDevices(machine.places())),
            (std::vector<std::string>{"AMD", "NVIDIA", "NVIDIA"}));
}

TEST(Registry, SaysWhyADriverThatIsThereGaveNoDevice) {
  FakeMachine machine;
  machine.SetNvml(FAKE_NVML_BROKEN);
  const Devices found = FindDevices(machine.places());
  EXPECT_EQ(Vendors(found), std::vector<std::string>{"CPU"});
  ASSERT_EQ(found.problems.size(), 1U);
  EXPECT_THAT(found.problems[0].Text(), testing::HasSubstr("version mismatch"));
}

// Whatever this machine is, its readings must be possible.
TEST(Registry, ThisMachineSaysWhatCanBe) {
  const Devices found = FindDevices();
  for (const auto& device : found.devices) {
    SCOPED_TRACE(device->info().name);
    EXPECT_NE(device->info().name, "");
    EXPECT_NE(device->info().id, "");
    device->Read(At(seconds(0)));
    const Reading reading = device->Read(At(seconds(1)));
    if (reading.busy) {
      EXPECT_GE(reading.busy->value(), 0);
      EXPECT_LE(reading.busy->value(), 1);
    }
    if (reading.temperature) {
      EXPECT_GT(*reading.temperature, Celsius(0));
      EXPECT_LT(*reading.temperature, Celsius(130));
    }
    if (reading.core_clock) {
      EXPECT_GT(*reading.core_clock, Megahertz(0));
      EXPECT_LT(*reading.core_clock, Megahertz(10'000));
    }
    if (reading.memory_used) {
      EXPECT_GT(*reading.memory_used, Bytes(0));
    }
    const auto processes = device->Processes();
    if (processes) {
      EXPECT_TRUE(std::is_sorted(processes->begin(), processes->end()));
    }
  }
}

TEST(Registry, ThisMachinesGpuSaysEverything) {
  const Devices found = FindDevices();
  const Device& first = *found.devices.front();
  if (first.info().vendor == Vendor::kCpu) GTEST_SKIP() << "this machine has no GPU";
  const Reading reading = found.devices.front()->Read(At(seconds(0)));
  EXPECT_TRUE(first.info().driver);
  EXPECT_TRUE(reading.busy);
  EXPECT_TRUE(reading.temperature);
  EXPECT_TRUE(reading.power);
  EXPECT_TRUE(reading.core_clock);
  EXPECT_TRUE(reading.memory_used);
  EXPECT_TRUE(found.devices.front()->Processes());
}

}  // namespace
}  // namespace culprit::gpu
