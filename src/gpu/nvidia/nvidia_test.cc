#include "gpu/nvidia/nvidia.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "gpu/fake_machine.h"
#include "gpu/nvidia/nvml.h"

namespace culprit::gpu {
namespace {

using std::chrono::seconds;

std::vector<std::unique_ptr<Device>> Find(FakeMachine& machine, const char* library) {
  machine.SetNvml(library);
  auto devices = FindNvidiaDevices(machine.places());
  EXPECT_TRUE(devices) << devices.error().Text();
  return devices ? *std::move(devices) : std::vector<std::unique_ptr<Device>>();
}

TEST(Nvidia, SaysWhatItDoes) {
  FakeMachine machine;
  const auto devices = Find(machine, FAKE_NVML_CURRENT);
  ASSERT_EQ(devices.size(), 2U) << "the third may not be seen";
  EXPECT_EQ(devices[0]->info(),
            (DeviceInfo{Vendor::kNvidia, "NVIDIA H200", "GPU-0123", "550.54.15"}));
  const Reading reading{.time = At(seconds(3)),
                        .busy = base::Fraction(0.37),
                        .temperature = Celsius(64),
                        .power = Watts(412.5),
                        .core_clock = Megahertz(1980),
                        .memory_clock = Megahertz(3201),
                        .memory_used = Bytes(42),
                        .throttle = std::vector<std::string>{"sw_power_cap"}};
  EXPECT_EQ(devices[0]->Read(At(seconds(3))), reading)
      << "being idle and clocks that somebody set are no throttling";
}

TEST(Nvidia, IsSilentAboutWhatItDoesNotSupport) {
  FakeMachine machine;
  const auto devices = Find(machine, FAKE_NVML_CURRENT);
  ASSERT_EQ(devices.size(), 2U);
  EXPECT_EQ(devices[1]->info(),
            (DeviceInfo{Vendor::kNvidia, "NVIDIA GPU", "unknown", "550.54.15"}));
  EXPECT_EQ(devices[1]->Read(At(seconds(3))), (Reading{.time = At(seconds(3))}));
  EXPECT_EQ(devices[1]->Processes(), std::nullopt);
}

TEST(Nvidia, ListsWhoComputesOrDrawsAndLives) {
  FakeMachine machine;
  for (const int pid : {200, 250, 299, 301, 302}) machine.Run(pid, "x", 1, pid, 0);
  const auto devices = Find(machine, FAKE_NVML_CURRENT);
  ASSERT_EQ(devices.size(), 2U);
  EXPECT_EQ(devices[0]->Processes(), (std::vector<pid_t>{200, 250, 299, 301}))
      << "100 of them need a second, larger question; 299 does both";
}

TEST(Nvidia, AnOldDriverIsAskedThroughItsOldFunctions) {
  FakeMachine machine;
  machine.Run(101, "x", 1, 101, 0);
  const auto devices = Find(machine, FAKE_NVML_OLD);
  ASSERT_EQ(devices.size(), 2U);
  EXPECT_EQ(devices[0]->Read(At(seconds(0))).throttle,
            (std::vector<std::string>{"hw_slowdown", "hw_thermal_slowdown"}));
  EXPECT_EQ(devices[0]->Processes(), std::vector<pid_t>{101});
}

TEST(Nvidia, NoDriverIsNoErrorAndABrokenOneIs) {
  FakeMachine machine;
  const auto missing = FindNvidiaDevices(machine.places());
  ASSERT_TRUE(missing);
  EXPECT_EQ(missing->size(), 0U);

  machine.Write("proc/driver/nvidia/version", "NVRM version: 580.159.04\n");
  const auto without_nvml = FindNvidiaDevices(machine.places());
  ASSERT_FALSE(without_nvml);
  EXPECT_EQ(without_nvml.error().code, base::ErrorCode::kNotFound);

  machine.SetNvml(FAKE_NVML_BROKEN);
  const auto broken = FindNvidiaDevices(machine.places());
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, base::ErrorCode::kUnreadable);
  EXPECT_EQ(
      broken.error().Text(), FAKE_NVML_BROKEN
      ": cannot be started: Driver/library version mismatch (code 18); does nvidia-smi work?");

  machine.SetNvml(FAKE_NVML_FOREIGN);
  const auto foreign = FindNvidiaDevices(machine.places());
  ASSERT_FALSE(foreign);
  EXPECT_EQ(foreign.error().Text(), FAKE_NVML_FOREIGN ": lacks the functions that every NVML has");
}

TEST(Nvidia, TheLibraryIsShutDownWithItsLastDevice) {
  void* library = ::dlopen(FAKE_NVML_CURRENT, RTLD_NOW);
  ASSERT_NE(library, nullptr);
  const auto starts = reinterpret_cast<int (*)()>(::dlsym(library, "FakeNvmlStarts"));
  FakeMachine machine;
  auto devices = Find(machine, FAKE_NVML_CURRENT);
  EXPECT_EQ(starts(), 1);
  devices.pop_back();
  EXPECT_EQ(starts(), 1);
  devices.clear();
  EXPECT_EQ(starts(), 0);
  ::dlclose(library);
}

}  // namespace
}  // namespace culprit::gpu
