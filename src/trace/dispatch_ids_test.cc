#include "trace/dispatch_ids.h"

#include <gtest/gtest.h>

#include <limits>

namespace culprit::trace {
namespace {

TEST(DispatchIds, NothingIsMissingFromNone) { EXPECT_EQ(DispatchIds().missing(), 0); }

TEST(DispatchIds, CountsTheGapsWhateverTheOrder) {
  DispatchIds ids;
  for (const std::int64_t id : {7, 3, 4, 9, 8, 1}) EXPECT_TRUE(ids.Add(id));
  EXPECT_EQ(ids.missing(), 3);  // 2, 5, 6
}

TEST(DispatchIds, KnowsWhatItHasSeen) {
  DispatchIds ids;
  for (const std::int64_t id : {1, 3, 2}) EXPECT_TRUE(ids.Add(id));
  for (const std::int64_t id : {1, 2, 3}) EXPECT_FALSE(ids.Add(id));
  EXPECT_EQ(ids.missing(), 0);
}

TEST(DispatchIds, HoldsTheLargestNumbers) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  DispatchIds ids;
  EXPECT_TRUE(ids.Add(kMax));
  EXPECT_TRUE(ids.Add(0));
  EXPECT_FALSE(ids.Add(kMax));
  EXPECT_EQ(ids.missing(), kMax - 1);
}

}  // namespace
}  // namespace culprit::trace
