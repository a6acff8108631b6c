#include "collect/rocprofv3/activity.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "sys/sample_files.h"

namespace culprit::collect::rocprofv3 {
namespace {

TEST(Activity, ShowsWhatThisProcessDoes) {
  const auto before = WrittenBy(::getpid());
  if (!before) GTEST_SKIP() << "/proc/PID/io cannot be read here";
  const sys::SampleFolder folder;
  std::ofstream(folder.path() + "/file") << std::string(1000, 'x');
  EXPECT_GE(WrittenBy(::getpid()), *before + 1000);
  EXPECT_NE(CommandOf(::getpid()).find("collect_test"), std::string::npos);
}

TEST(Activity, KnowsWhichSignalsAreCaught) {
  const auto old = ::signal(SIGQUIT, [](int) {});
  EXPECT_TRUE(Catches(::getpid(), SIGQUIT));
  ::signal(SIGQUIT, SIG_DFL);
  EXPECT_FALSE(Catches(::getpid(), SIGQUIT));
  ::signal(SIGQUIT, old);
}

TEST(Activity, SeesWhoHasAFileOpen) {
  const sys::SampleFolder folder;
  const std::string path = std::filesystem::canonical(folder.path()).string() + "/a.db";
  const auto self = sys::Identify(::getpid());
  ASSERT_TRUE(self);
  {
    std::ofstream file(path + "-journal");
    EXPECT_EQ(HaveOpen({*self}, path), true);
  }
  EXPECT_EQ(HaveOpen({*self}, path), false);
}

TEST(Activity, IsUnknownOfWhatHasGone) {
  const pid_t nobody = 0x7ffffffe;
  EXPECT_EQ(WrittenBy(nobody), std::nullopt);
  EXPECT_FALSE(Catches(nobody, SIGQUIT));
  EXPECT_EQ(CommandOf(nobody), "");
  EXPECT_EQ(HaveOpen({{nobody, 1}}, "/x"), false);
}

}  // namespace
}  // namespace culprit::collect::rocprofv3
