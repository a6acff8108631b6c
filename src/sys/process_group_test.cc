#include "sys/process_group.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "sys/sample_files.h"

namespace culprit::sys {
namespace {

using namespace std::chrono_literals;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// A shell with a child in its group, both running.
class ProcessGroup : public testing::Test {
 protected:
  void SetUp() override {
    const std::string pid_file = folder_.path() + "/pid";
    auto started = Process::Start(
        {.argv = {"/bin/sh", "-c", "sleep 1000 & echo $! > '" + pid_file + "'; wait"}});
    ASSERT_TRUE(started);
    shell_.emplace(*std::move(started));
    group_ = IdentifyGroup(shell_->identity());
    const StopSignal never;
    pid_t child = 0;
    while (child == 0 && never.SleepFor(1ms)) std::ifstream(pid_file) >> child;
    child_ = *Identify(child);
  }
  void KillLeader() {
    ::kill(shell_->identity().pid, SIGKILL);
    ASSERT_TRUE(shell_->WaitFor(60s, StopSignal()));
  }
  const SampleFolder folder_;
  std::optional<Process> shell_;
  GroupIdentity group_;
  ProcessIdentity child_;
};

TEST_F(ProcessGroup, IsKilledWhole) {
  EXPECT_EQ(group_.session, ::getsid(0));
  EXPECT_THAT(MembersOf(group_), UnorderedElementsAre(shell_->identity(), child_));
  EXPECT_THAT(KillGroup(group_, 60s), IsEmpty());
  EXPECT_FALSE(IsAlive(shell_->identity()));
  EXPECT_FALSE(IsAlive(child_));
}

TEST_F(ProcessGroup, IsKnownAfterItsLeaderDied) {
  KillLeader();
  EXPECT_THAT(KillGroup(group_, 60s), IsEmpty());
  EXPECT_FALSE(IsAlive(child_));
}

TEST_F(ProcessGroup, OfAnotherLeaderIsLeftAlone) {
  GroupIdentity earlier = group_;
  --earlier.leader.started;
  EXPECT_THAT(KillGroup(earlier, 60s), IsEmpty());
  EXPECT_TRUE(IsAlive(child_));
}

TEST_F(ProcessGroup, WithoutLeaderOfAnotherSessionOrAgeIsLeftAlone) {
  KillLeader();
  GroupIdentity other_session = group_;
  ++other_session.session;
  EXPECT_THAT(KillGroup(other_session, 60s), IsEmpty());
  GroupIdentity younger = group_;
  younger.leader.started = child_.started + 1;
  EXPECT_THAT(KillGroup(younger, 60s), IsEmpty());
  EXPECT_TRUE(IsAlive(child_));
}

}  // namespace
}  // namespace culprit::sys
