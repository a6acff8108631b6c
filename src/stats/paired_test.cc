#include "stats/paired.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "stats/random.h"

namespace culprit::stats {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Pairs with these log ratios, in the order AB BA BA AB, over and over.
std::vector<Pair> WithLogRatios(const std::vector<double>& ratios) {
  std::vector<Pair> pairs;
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    const bool candidate_first = i % 4 == 1 || i % 4 == 2;
    pairs.push_back({4 * std::exp(-ratios[i] / 2), 4 * std::exp(ratios[i] / 2),
                     2 * i + (candidate_first ? 1 : 0), 2 * i + (candidate_first ? 0 : 1)});
  }
  return pairs;
}

std::vector<Pair> Exchanged(std::vector<Pair> pairs) {
  for (Pair& pair : pairs) {
    std::swap(pair.baseline, pair.candidate);
    std::swap(pair.baseline_at, pair.candidate_at);
  }
  return pairs;
}

TEST(ComparePairs, GivesThePairedTInterval) {
  // By hand: squares of deviations add up to 130e-6, so the error is sqrt(130e-6 / 12), and t of
  // 3 degrees of freedom is 3.1824.
  const PairedComparison result = ComparePairs(WithLogRatios({0.011, 0.019, 0.022, 0.008}));
  EXPECT_EQ(result.pairs, 4u);
  EXPECT_EQ(result.method, Method::kPairs);
  EXPECT_NEAR(result.log_ratio, 0.015, 1e-12);
  EXPECT_NEAR(result.change().value(), 0.015113, 1e-6);
  EXPECT_NEAR(result.error->value, 0.0032914, 1e-6);
  EXPECT_EQ(result.error->df, 3);
  EXPECT_NEAR(result.interval->low, 0.004525, 1e-5);
  EXPECT_NEAR(result.interval->high, 0.025475, 1e-5);
  EXPECT_NEAR(result.robust_log_ratio, 0.015, 1e-12);
  EXPECT_NEAR(result.baseline_median, 4 * std::exp(-0.0075), 1e-4);
  EXPECT_NEAR(result.candidate_median, 4 * std::exp(0.0075), 1e-4);
}

TEST(ComparePairs, WidensTheIntervalAtALookOfASequentialDesign) {
  const auto pairs = WithLogRatios({0.011, 0.019, 0.022, 0.010});
  const PairedComparison plain = ComparePairs(pairs);
  const PairedComparison look = ComparePairs(pairs, 0.018);
  EXPECT_EQ(look.log_ratio, plain.log_ratio);
  EXPECT_NEAR((look.interval->high - look.log_ratio) / look.error->value, 4.72, 0.01);
  EXPECT_EQ(look.IntervalAt(0.05), plain.interval);
  EXPECT_GT(*look.Detectable(), *plain.Detectable());
  EXPECT_NEAR(*plain.Detectable() / (plain.error->value * 2), 2.13, 0.01);  // in sd of a pair
}

TEST(ComparePairs, TheOtherWayRoundEverySignTurns) {
  Random random(1);
  for (std::size_t n = 1; n < 12; ++n) {
    std::vector<double> ratios(n);
    for (double& ratio : ratios) ratio = 0.01 + 0.01 * random.Normal();
    const auto pairs = WithLogRatios(ratios);
    const PairedComparison there = ComparePairs(pairs);
    const PairedComparison back = ComparePairs(Exchanged(pairs));
    EXPECT_DOUBLE_EQ(there.log_ratio, -back.log_ratio);
    EXPECT_DOUBLE_EQ(there.robust_log_ratio, -back.robust_log_ratio);
    EXPECT_EQ(there.baseline_median, back.candidate_median);
    EXPECT_EQ(there.method, back.method);
    EXPECT_EQ(there.warnings, back.warnings);
    if (n == 1) continue;
    EXPECT_NEAR(there.interval->low, -back.interval->high, 1e-12);
    EXPECT_NEAR(there.drift->per_run, back.drift->per_run, 1e-12);
    EXPECT_EQ(there.order_effect.has_value(), n >= 4);
  }
}

TEST(ComparePairs, EstimatesBesideADriftWhereOneIsSeen) {
  // 1 % a run, an effect of 0.5 %, and little noise.
  const std::vector<double> noise = {0.0004, -0.0003, 0.0002, -0.0005, 0.0003, -0.0001, 0.0002, 0};
  std::vector<Pair> pairs = WithLogRatios({0, 0, 0, 0});
  for (Pair& pair : pairs) {
    pair.baseline =
        std::exp(0.01 * static_cast<double>(pair.baseline_at) + noise[pair.baseline_at]);
    pair.candidate =
        std::exp(0.005 + 0.01 * static_cast<double>(pair.candidate_at) + noise[pair.candidate_at]);
  }
  const PairedComparison result = ComparePairs(pairs);
  EXPECT_EQ(result.method, Method::kArmAndTime);
  EXPECT_EQ(result.error->df, 5);
  EXPECT_NEAR(result.drift->per_run, 0.01, 1e-4);
  EXPECT_GT(result.drift->t, 100);
  EXPECT_NEAR(result.log_ratio, 0.005, 5e-4);
  EXPECT_LT(result.interval->high - result.interval->low, 0.002);
  // A paired interval would take the drift between the runs of a pair for noise, and the drift
  // would look like an effect of the order.
  EXPECT_THAT(result.warnings, ElementsAre(Warning::kDrift));
}

TEST(ComparePairs, FewerThanFourPairsAreEstimatedBesideADriftAndSaySo) {
  const PairedComparison three = ComparePairs(WithLogRatios({0.010, 0.012, 0.011}));
  EXPECT_EQ(three.method, Method::kArmAndTime);
  EXPECT_EQ(three.error->df, 2);
  EXPECT_TRUE(three.Has(Warning::kFewPairs));
  EXPECT_FALSE(three.order_effect);
}

TEST(ComparePairs, ASinglePairHasAnEstimateAndNoInterval) {
  const PairedComparison one = ComparePairs(WithLogRatios({0.01}));
  EXPECT_NEAR(one.log_ratio, 0.01, 1e-12);
  EXPECT_FALSE(one.error || one.interval || one.drift || one.order_effect || one.Detectable());
  EXPECT_THAT(one.warnings, ElementsAre(Warning::kFewPairs));
}

TEST(ComparePairs, WarnsWhenWhoRunsFirstMatters) {
  const PairedComparison result =
      ComparePairs(WithLogRatios({0.0101, 0.0302, 0.0299, 0.0098, 0.0102, 0.0298, 0.0301, 0.0099}));
  EXPECT_NEAR(result.order_effect->change, 0.02, 1e-12);
  EXPECT_GT(result.order_effect->t, 50);
  EXPECT_THAT(result.warnings, ElementsAre(Warning::kOrderEffect));
}

TEST(ComparePairs, WarnsWhenOneSideRanBeforeTheOther) {
  std::vector<Pair> pairs = {{10, 11, 0, 4}, {10.1, 11, 1, 5}, {10, 11.1, 2, 6}, {10, 11, 3, 7}};
  EXPECT_TRUE(ComparePairs(pairs, 0.05).Has(Warning::kBlocked));
  for (Pair& pair : pairs) std::swap(pair.baseline_at, pair.candidate_at);
  EXPECT_TRUE(ComparePairs(pairs, 0.05).Has(Warning::kBlocked));
  const std::vector<Pair> in_turns = {{10, 11, 0, 1}, {10.1, 11, 3, 2}};
  EXPECT_FALSE(ComparePairs(in_turns, 0.05).Has(Warning::kBlocked));
}

TEST(ComparePairs, WarnsWhenAFewPairsDecide) {
  // Nine pairs agree on a slowdown and one outlier pulls the mean to the other side.
  const PairedComparison result = ComparePairs(WithLogRatios(
      {0.0100, 0.0101, 0.0099, 0.0102, -0.2, 0.0098, 0.0100, 0.0101, 0.0099, 0.0100}));
  EXPECT_LT(result.log_ratio, 0);
  EXPECT_NEAR(result.robust_log_ratio, 0.01, 1e-4);
  EXPECT_TRUE(result.Has(Warning::kUnstable));
  // Both near zero: the signs differ by chance.
  EXPECT_THAT(ComparePairs(WithLogRatios({-0.010, 0.011, 0.001, 0.0005, -0.004})).warnings,
              IsEmpty());
}

TEST(ComparePairs, EqualCostsAreNoChangeAtAll) {
  const PairedComparison result = ComparePairs(WithLogRatios({0, 0, 0, 0}));
  EXPECT_EQ(result.log_ratio, 0);
  EXPECT_EQ(result.interval, (Interval{0, 0}));
  EXPECT_EQ(result.drift->t, 0);
  EXPECT_THAT(result.warnings, IsEmpty());
}

TEST(ComparePairs, PositionsThatRepeatLeaveThePairedMethod) {
  const PairedComparison result = ComparePairs(
      std::vector<Pair>{{1, 1.01, 0, 1}, {1, 1.02, 0, 1}, {1, 1.03, 0, 1}, {1, 1.02, 0, 1}});
  EXPECT_EQ(result.method, Method::kPairs);
  EXPECT_FALSE(result.drift);
  EXPECT_TRUE(result.interval);
}

TEST(ComparePairs, TakesAnyPositiveNumberForACost) {
  const double most = std::numeric_limits<double>::max();
  const double least = std::numeric_limits<double>::denorm_min();
  const PairedComparison result = ComparePairs(
      std::vector<Pair>{{most, least, 0, 1}, {least, most, 3, 2}, {1, 1, 5, 4}, {1, 1, 6, 7}});
  EXPECT_TRUE(std::isfinite(result.log_ratio) && std::isfinite(result.interval->low) &&
              std::isfinite(result.interval->high));
}

}  // namespace
}  // namespace culprit::stats
