#include "host/machine_lock.h"

#include <gmock/gmock.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <optional>

#include "sys/sample_files.h"

namespace culprit::host {
namespace {

using base::ErrorCode;
using testing::HasSubstr;
using testing::MatchesRegex;

class MachineLockTest : public testing::Test {
 protected:
  MachineLockTest() { ::setenv("CULPRIT_LOCK", path_.c_str(), 1); }
  ~MachineLockTest() override { ::unsetenv("CULPRIT_LOCK"); }
  const sys::SampleFolder folder_;
  const std::string path_ = folder_.path() + "/lock";
  const sys::StopSignal stop_;
};

TEST_F(MachineLockTest, TellsWhoHoldsIt) {
  const auto first = MachineLock::Acquire("culprit ab in runs/x", false, stop_);
  ASSERT_TRUE(first) << first.error().Text();
  const auto second = MachineLock::Acquire("another", false, stop_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kEnvironment);
  EXPECT_THAT(second.error().Text(),
              MatchesRegex("this machine is in use by another run: process [0-9]+, culprit ab in "
                           "runs/x, since [-0-9]+ [:0-9]+ UTC"));
}

TEST_F(MachineLockTest, CanBeTakenOnceItsHolderIsGone) {
  { ASSERT_TRUE(MachineLock::Acquire("first", false, stop_)); }
  EXPECT_TRUE(MachineLock::Acquire("second", false, stop_));
}

TEST_F(MachineLockTest, IsHeldByWhoeverInheritedIt) {
  int inherited = -1;
  {
    const auto first = MachineLock::Acquire("first", false, stop_);
    ASSERT_TRUE(first);
    inherited = ::dup(first->fd());
  }
  EXPECT_FALSE(MachineLock::Acquire("second", false, stop_));
  ::close(inherited);
  EXPECT_TRUE(MachineLock::Acquire("second", false, stop_));
}

TEST_F(MachineLockTest, IsOpenToAllUsers) {
  const mode_t mask = ::umask(077);
  const auto lock = MachineLock::Acquire("first", false, stop_);
  ::umask(mask);
  ASSERT_TRUE(lock);
  EXPECT_EQ(std::filesystem::status(path_).permissions(), std::filesystem::perms(0666));
}

TEST_F(MachineLockTest, FollowsNoLinkAndOpensNoPipe) {
  const std::string victim = folder_.path() + "/victim";
  std::filesystem::create_symlink(victim, path_);
  EXPECT_FALSE(MachineLock::Acquire("first", false, stop_));
  EXPECT_FALSE(std::filesystem::exists(victim));
  std::filesystem::remove(path_);
  ASSERT_EQ(::mkfifo(path_.c_str(), 0666), 0);
  EXPECT_FALSE(MachineLock::Acquire("first", false, stop_));
}

TEST_F(MachineLockTest, WaitingEndsWhenTheUserWantsToStop) {
  const auto first = MachineLock::Acquire("first", false, stop_);
  ASSERT_TRUE(first);
  const sys::StopSignal stop;
  const auto second = MachineLock::Acquire("second", true, stop, [&](const std::string& holder) {
    EXPECT_THAT(holder, HasSubstr("first"));
    stop.Request();
  });
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kInterrupted);
}

}  // namespace
}  // namespace culprit::host
