#include "gpu/processes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "gpu/fake_machine.h"

namespace culprit::gpu {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(ForeignProcesses, AreThoseThatLiveOutsideTheOwnGroup) {
  const FakeMachine machine;
  machine.Run(10, "llama-server", 1, 10, 0);
  machine.Run(11, "worker", 10, 10, 0);
  machine.Run(20, "python3", 1, 20, 0);
  const std::vector<pid_t> pids = {10, 11, 20, 30};
  EXPECT_EQ(ForeignProcesses(machine.places().proc, pids, 10),
            (std::vector<Process>{{20, "python3"}}));
  EXPECT_EQ(ForeignProcesses(machine.places().proc, pids, std::nullopt),
            (std::vector<Process>{{10, "llama-server"}, {11, "worker"}, {20, "python3"}}));
}

class GroupCpuTest : public testing::Test {
 protected:
  const FakeMachine machine_;
  const base::Nanos tick_ = base::Nanos(1'000'000'000 / ::sysconf(_SC_CLK_TCK));
};

TEST_F(GroupCpuTest, CountsFromTheFirstCallOn) {
  machine_.Run(10, "llama-server", 1, 10, 5000);
  GroupCpu cpu(machine_.places().proc, 10);
  EXPECT_EQ(cpu.Used(), base::Nanos(0));
  machine_.Run(10, "llama-server", 1, 10, 5040);
  EXPECT_EQ(cpu.Used(), 40 * tick_);
}

TEST_F(GroupCpuTest, TakesInChildrenThatLeftTheGroupAndNobodyElse) {
  machine_.Run(10, "server", 1, 10, 0);
  machine_.Run(9, "grandchild", 12, 12, 0);
  machine_.Run(12, "child", 10, 12, 0);
  machine_.Run(20, "other", 1, 20, 0);
  GroupCpu cpu(machine_.places().proc, 10);
  ASSERT_EQ(cpu.Used(), base::Nanos(0));
  for (const int pid : {9, 12, 20}) machine_.Run(pid, "x", pid == 9 ? 12 : 10, pid, 100);
  EXPECT_EQ(cpu.Used(), 200 * tick_);
}

TEST_F(GroupCpuTest, NeverFallsWhenAMemberEndsOrItsPidIsUsedAgain) {
  machine_.Run(10, "server", 1, 10, 0);
  machine_.Run(11, "worker", 10, 10, 0, 1);
  GroupCpu cpu(machine_.places().proc, 10);
  ASSERT_EQ(cpu.Used(), base::Nanos(0));
  machine_.Run(11, "worker", 10, 10, 70, 1);
  EXPECT_EQ(cpu.Used(), 70 * tick_);
  machine_.Run(11, "someone", 1, 11, 900, 2);
  for (int call = 0; call < 5; ++call) EXPECT_EQ(cpu.Used(), 70 * tick_);
}

TEST_F(GroupCpuTest, FindsAMemberBornLaterWithinFiveCalls) {
  machine_.Run(10, "server", 1, 10, 0);
  GroupCpu cpu(machine_.places().proc, 10);
  ASSERT_EQ(cpu.Used(), base::Nanos(0));
  machine_.Run(11, "worker", 10, 10, 30, 5);
  for (int call = 0; call < 4; ++call) cpu.Used();
  EXPECT_EQ(cpu.Used(), 30 * tick_);
}

TEST_F(GroupCpuTest, StopsAtTheLongestTimeInsteadOfOverflowing) {
  const std::string line = " (x) S 1 10 1 0 -1 1 1 0 0 0 2305843009213693951 0 0 0 20 0 1 0 1 1 1";
  machine_.Run(10, "server", 1, 10, 0);
  machine_.Run(11, "server", 1, 10, 0);
  GroupCpu cpu(machine_.places().proc, 10);
  ASSERT_EQ(cpu.Used(), base::Nanos(0));
  machine_.Write("proc/10/stat", "10" + line);
  machine_.Write("proc/11/stat", "11" + line);
  EXPECT_GT(cpu.Used(), base::Nanos(0));
}

TEST_F(GroupCpuTest, IsAbsentWhenNobodyLives) {
  GroupCpu cpu(machine_.places().proc, 10);
  EXPECT_EQ(cpu.Used(), std::nullopt);
}

}  // namespace
}  // namespace culprit::gpu
