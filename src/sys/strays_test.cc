#include "sys/strays.h"

#include <gmock/gmock.h>

namespace culprit::sys {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::IsEmpty;

TEST(Strays, AreFoundWhenTheyHaveLeftTheirGroup) {
  AdoptOrphans();
  const auto known = Children();
  auto server = Process::Start({.argv = {"setsid", "--fork", "sleep", "600"}});
  ASSERT_TRUE(server) << server.error().Text();
  while (!server->Poll()) {
  }
  // The daemon is a moment between its fork and its exec.
  std::vector<std::string> ended;
  while (ended.empty()) ended = EndStrays(known);
  EXPECT_THAT(ended, ElementsAre(testing::AnyOf(EndsWith(" sleep"), EndsWith(" setsid"))));
  EXPECT_THAT(EndStrays(known), IsEmpty());
  EXPECT_EQ(Children(), known);
}

TEST(Strays, LeaveAloneWhatWasThereBefore) {
  auto other = Process::Start({.argv = {"sleep", "600"}});
  ASSERT_TRUE(other) << other.error().Text();
  EXPECT_THAT(EndStrays(Children()), IsEmpty());
  EXPECT_FALSE(other->Poll());
}

}  // namespace
}  // namespace culprit::sys
