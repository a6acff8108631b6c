#include "sys/process_stat.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace culprit::sys {
namespace {

using namespace std::chrono_literals;

TEST(ProcessStatLine, IsReadWhateverTheCommandIs) {
  const std::string numbers =
      " S 1 4700 4690 0 -1 4194304 102 0 0 0 250 50 0 0 20 0 17 0 1186664 3133440 413";
  const auto tick = base::Nanos(1s) / ::sysconf(_SC_CLK_TCK);
  for (const std::string command : {"llama-server", "a b", "x) R 1 (y", "", ")(", "a\nb"}) {
    EXPECT_EQ(ParseProcessStat(fmt::format("4711 ({}){}", command, numbers)),
              (ProcessStat{{4711, 1186664}, command, 'S', 1, 4700, 4690, 300 * tick}))
        << command;
  }
}

TEST(ProcessStatLine, ThatIsNoneIsRefused) {
  for (const char* line :
       {"", "4711", "4711 (a", "(a) S 1 1", "4711 )a( S 1 1 1", "4711 (a) S 1 1 1 0", "4711 (a) ",
        "x (a) S 1 1 1 0 -1 1 1 0 0 0 250 50 0 0 20 0 17 0 1186664 3",
        "4711 (a) S -1 1 1 0 -1 1 1 0 0 0 250 50 0 0 20 0 17 0 1186664 3",
        "4711 (a) S 1 1 1 0 -1 1 1 0 0 0 -1 50 0 0 20 0 17 0 1186664 3",
        "99999999999 (a) S 1 1 1 0 -1 1 1 0 0 0 250 50 0 0 20 0 17 0 1186664 3"}) {
    EXPECT_EQ(ParseProcessStat(line), std::nullopt) << line;
  }
}

TEST(ProcessStatLine, OfThisProcessIsRead) {
  const auto stat = ReadProcessStat(::getpid());
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->command, "sys_test");
  EXPECT_EQ(stat->state, 'R');
  EXPECT_EQ(stat->parent, ::getppid());
  EXPECT_EQ(stat->group, ::getpgrp());
  EXPECT_EQ(stat->session, ::getsid(0));
}

TEST(ProcessStatLine, SaysNoLongerTimeThanCanBeAdded) {
  const auto stat = ParseProcessStat(
      "4711 (a) S 1 1 1 0 -1 1 1 0 0 0 9223372036854775807 9223372036854775807 0 0 20 0 17 0 1 3");
  ASSERT_TRUE(stat);
  EXPECT_GT(stat->cpu, 72 * 365 * 24h);
  EXPECT_GT(stat->cpu + stat->cpu, stat->cpu);
}

TEST(ProcessIdentity, TellsAProcessFromALaterOneWithItsPid) {
  const auto self = Identify(::getpid());
  ASSERT_TRUE(self);
  EXPECT_TRUE(IsAlive(*self));
  EXPECT_FALSE(IsAlive({self->pid, self->started + 1}));
}

}  // namespace
}  // namespace culprit::sys
