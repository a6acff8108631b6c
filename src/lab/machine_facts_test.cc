#include "lab/machine_facts.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "lab/control_groups.h"

namespace culprit::lab {
namespace {

namespace fs = std::filesystem;

// A folder that stands for the root of a machine.
class FakeRoot : public testing::Test {
 protected:
  FakeRoot() {
    std::string name = testing::TempDir() + "/culprit-root-XXXXXX";
    root_ = ::mkdtemp(name.data());
    ::setenv("CULPRIT_STATE_DIR", (root_ + "/state").c_str(), 1);
    ::setenv("CULPRIT_LOCK", (root_ + "/lock").c_str(), 1);
  }
  ~FakeRoot() override { fs::remove_all(root_); }
  void Put(const std::string& path, const std::string& text) const {
    fs::create_directories(fs::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  MachineFacts Inspect() const {
    return InspectMachine({}, {.root = root_, .nvml = root_ + "/no.so", .run_folder = root_});
  }
  std::string root_;
};

using ControlGroups = FakeRoot;

TEST_F(ControlGroups, LimitByTheTightestOnTheWayUp) {
  Put("/proc/self/cgroup", "0::/user.slice/user-1000.slice\n");
  Put("/sys/fs/cgroup/user.slice/user-1000.slice/cpu.max", "max 100000\n");
  Put("/sys/fs/cgroup/user.slice/cpu.max", "250000 100000\n");
  Put("/sys/fs/cgroup/user.slice/memory.max", "8589934592\n");
  Put("/sys/fs/cgroup/memory.max", "max\n");
  EXPECT_EQ(ReadControlGroups(root_), (ControlGroupLimits{2.5, 8589934592ULL}));
}

TEST_F(ControlGroups, OfVersion1HaveAFolderForEachController) {
  Put("/proc/self/cgroup", "4:memory:/docker/0a1b\n1:cpu:/\n0::/\n");
  Put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "1073741824\n");  // a container's own view
  Put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
  Put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(ReadControlGroups(root_), (ControlGroupLimits{{}, 1073741824ULL}));
}

TEST_F(ControlGroups, AreUnlimitedWhereNothingIsSaid) {
  EXPECT_EQ(ReadControlGroups(root_), ControlGroupLimits());
  Put("/proc/self/cgroup", "0::/\n\n:\nx:y\n1:cpu");
  Put("/sys/fs/cgroup/cpu.max", "0 0\n");
  Put("/sys/fs/cgroup/memory.max", "9223372036854771712\n");
  EXPECT_EQ(ReadControlGroups(root_), ControlGroupLimits());
}

using Machine = FakeRoot;

TEST_F(Machine, IsReadFromItsFiles) {
  Put("/proc/loadavg", "3.08 5.34 5.95 4/109 1803\n");
  Put("/proc/meminfo", "MemTotal:       65536000 kB\nMemFree: 1 kB\n");
  Put("/proc/sys/kernel/core_pattern", "|/usr/bin/catcher %p\n");
  Put("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  Put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
  const MachineFacts facts = Inspect();
  EXPECT_EQ(facts.processors.load, 3.08);
  EXPECT_EQ(facts.processors.governor, "powersave");
  EXPECT_EQ(facts.processors.huge_pages, "madvise");
  EXPECT_EQ(facts.memory.total, 65536000ULL * 1024);
  EXPECT_EQ(facts.core_dumps.pattern, "|/usr/bin/catcher %p");
  EXPECT_TRUE(facts.disk.free);
  EXPECT_TRUE(facts.device_files.empty()) << "those of an AMD device, which there is none";
}

TEST_F(Machine, HasTheDeviceFilesOfItsDevice) {
  Put("/sys/class/drm/card0/device/vendor", "0x1002\n");
  Put("/sys/class/drm/card0/device/product_name", "Radeon 8060S\n");
  Put("/sys/class/drm/card0/device/gpu_busy_percent", "0\n");
  Put("/dev/dri/renderD128", "");
  const MachineFacts facts = Inspect();
  ASSERT_EQ(facts.devices.size(), 1U);
  EXPECT_EQ(facts.devices[0].name, "Radeon 8060S");
  EXPECT_EQ(facts.devices[0].busy, base::Fraction(0));
  ASSERT_EQ(facts.device_files.size(), 2U);
  EXPECT_EQ(facts.device_files[0].path, root_ + "/dev/kfd");
  EXPECT_FALSE(facts.device_files[0].usable) << "the driver for computing is not there";
  EXPECT_TRUE(facts.device_files[1].usable);
}

TEST_F(Machine, SaysNothingThatNoFileSays) {
  const MachineFacts facts = Inspect();
  EXPECT_FALSE(facts.processors.load);
  EXPECT_FALSE(facts.processors.governor);
  EXPECT_FALSE(facts.processors.huge_pages);
  EXPECT_FALSE(facts.memory.total);
  EXPECT_FALSE(facts.memory.allowed);
}

TEST_F(Machine, TellsWhereARunDirectoryCannotBe) {
  Put("/file", "");
  const auto disk = [&](const std::string& folder) {
    return InspectMachine({}, {.root = root_, .nvml = root_ + "/no.so", .run_folder = folder}).disk;
  };
  EXPECT_TRUE(disk(root_ + "/runs/x").usable);
  EXPECT_EQ(disk(root_ + "/runs/x").folder, root_);
  EXPECT_TRUE(disk("").usable);
  EXPECT_EQ(disk("").folder, ".");
  for (const char* path : {"/file", "/file/x"}) {
    EXPECT_EQ(disk(root_ + path).usable.error().Text(), root_ + "/file: is no folder");
  }
}

TEST_F(Machine, TellsWhichFilesOfAVariantAreMissing) {
  experiment::Spec spec;
  spec.variants = {{.label = "q4", .binary = root_ + "/server", .model = root_ + "/model.gguf"}};
  spec.workload.cache_prompt = true;
  Put("/model.gguf", "four");
  const MachineFacts facts =
      InspectMachine(spec, {.root = root_, .nvml = root_ + "/no.so", .run_folder = root_});
  ASSERT_EQ(facts.variants.size(), 1U);
  EXPECT_FALSE(facts.variants[0].binary);
  EXPECT_TRUE(facts.variants[0].model);
  EXPECT_EQ(facts.variants[0].model_bytes, 4U);
  EXPECT_EQ(facts.disk.needed, (std::uint64_t{1} << 30) + 4);
}

}  // namespace
}  // namespace culprit::lab
