#include "stats/random.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "stats/sample.h"

namespace culprit::stats {
namespace {

TEST(Random, FollowsFromTheSeedAloneOnEveryLibrary) {
  Random random(1);
  EXPECT_EQ(random.Bits(), 2469588189546311528u);  // std::mt19937_64, whose output is standardised
  EXPECT_EQ(random.Uniform(), 0.13640703636619722);
  EXPECT_NEAR(Random(1).Normal(), 0.35099249780849, 1e-14);
}

TEST(Random, NormalHasMeanZeroAndDeviationOne) {
  Random random(2);
  std::vector<double> values(100'000);
  for (double& value : values) value = random.Normal();
  EXPECT_NEAR(*Mean(values), 0, 0.01);
  EXPECT_NEAR(*Variance(values), 1, 0.02);
  EXPECT_NEAR(*Quantile(values, 0.975), 1.96, 0.03);
  EXPECT_NEAR(*Quantile(values, 0.001), -3.09, 0.15);
}

TEST(Random, BelowGivesEachNumberTheSameChance) {
  Random random(3);
  std::array<int, 6> counts{};
  for (int i = 0; i < 60'000; ++i) ++counts[random.Below(6)];
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 400);
  EXPECT_EQ(random.Below(1), 0u);
}

TEST(Random, CoinIsFair) {
  Random random(4);
  int heads = 0;
  for (int i = 0; i < 10'000; ++i) heads += random.Coin();
  EXPECT_NEAR(heads, 5'000, 200);
}

}  // namespace
}  // namespace culprit::stats
