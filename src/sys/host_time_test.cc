#include "sys/host_time.h"

#include <gmock/gmock.h>

namespace culprit::sys {
namespace {

TEST(UtcNow, IsWrittenAsTold) {
  EXPECT_THAT(UtcNow(), testing::MatchesRegex("20[0-9-]+T[0-9:]+Z"));
  EXPECT_EQ(UtcNow().size(), 20U);
  EXPECT_THAT(UtcNow("%Y%m"), testing::MatchesRegex("20[0-9]+"));
}

}  // namespace
}  // namespace culprit::sys
