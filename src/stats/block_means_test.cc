#include "stats/block_means.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace culprit::stats {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Series = std::vector<double>;

Series RandomSeries(std::mt19937_64& random, std::size_t steps) {
  std::lognormal_distribution<double> cost(7, 0.5);
  Series series(steps);
  for (double& step : series) step = cost(random);
  return series;
}

TEST(BlockMeans, CutsASeriesIntoBlocksThatDifferByOneStepAtMost) {
  EXPECT_THAT(BlockMeans(Series{1, 3, 5, 7, 10, 20, 30}, 3), ElementsAre(2, 6, 20));
}

TEST(CompareSeries, FindsTheSameIntervalAsABookWhenStepsAreFew) {
  // Eight steps are eight blocks, so this is a plain paired t test: differences 1 … 8,
  // sd 2.4495, se 0.86603, t = 4.5 / 0.86603 = 5.1962, reach 2.3646 * 0.86603.
  const Series a = {10, 10, 10, 10, 10, 10, 10, 10};
  const Series b = {11, 12, 13, 14, 15, 16, 17, 18};
  const DifferenceOfMeans difference = CompareSeries(a, b, 1);
  EXPECT_DOUBLE_EQ(difference.estimate, 4.5);
  EXPECT_NEAR(difference.interval->low, 4.5 - 2.04784, 1e-4);
  EXPECT_NEAR(difference.interval->high, 4.5 + 2.04784, 1e-4);
  EXPECT_NEAR(*difference.p, 0.001259, 1e-6);
  EXPECT_THAT(difference.warnings, ElementsAre(Warning::kFewSteps));
}

TEST(CompareSeries, GivesAnEstimateAndNoIntervalBelowEightSteps) {
  const DifferenceOfMeans difference = CompareSeries(Series{1, 2, 3}, Series(100, 7), 1);
  EXPECT_EQ(difference.estimate, 5);
  EXPECT_FALSE(difference.interval);
  EXPECT_FALSE(difference.p);
  EXPECT_THAT(difference.warnings, ElementsAre(Warning::kNoInterval));
}

TEST(CompareSeries, OfBToAIsTheExactNegationOfAToB) {
  std::mt19937_64 random(1);
  std::uniform_int_distribution<std::size_t> steps(1, 200);
  for (int round = 0; round < 200; ++round) {
    const Series a = RandomSeries(random, steps(random));
    const Series b = RandomSeries(random, steps(random));
    const DifferenceOfMeans there = CompareSeries(a, b, 1);
    const DifferenceOfMeans back = CompareSeries(b, a, 1);
    EXPECT_EQ(there.estimate, -back.estimate);
    EXPECT_EQ(there.p, back.p);
    EXPECT_EQ(there.warnings, back.warnings);
    ASSERT_EQ(there.interval.has_value(), back.interval.has_value());
    if (!there.interval) continue;
    EXPECT_EQ(there.interval->low, -back.interval->high);
    EXPECT_EQ(there.interval->high, -back.interval->low);
  }
}

TEST(CompareSeries, OfASeriesToItselfFindsNothing) {
  std::mt19937_64 random(2);
  for (const std::size_t steps : {8u, 23u, 24u, 96u, 511u}) {
    const Series series = RandomSeries(random, steps);
    const DifferenceOfMeans difference = CompareSeries(series, series, 1);
    EXPECT_EQ(difference.estimate, 0);
    EXPECT_EQ(difference.p, 1);
    EXPECT_LT(difference.interval->low, 0);
    EXPECT_GT(difference.interval->high, 0);
  }
}

TEST(CompareSeries, SeesAKernelThatExistsOnOneSideOnly) {
  std::mt19937_64 random(3);
  const Series cost = RandomSeries(random, 511);
  const DifferenceOfMeans difference = CompareSeries(Series(511, 0), cost, 1);
  EXPECT_GT(difference.interval->low, 0.9 * difference.estimate);
  EXPECT_LT(*difference.p, 1e-6);
  EXPECT_THAT(difference.warnings, IsEmpty());
}

TEST(CompareSeries, NeverClaimsMoreThanTheClockCanTell) {
  // Constant on both sides: what is left is the rounding of stamps to ticks of 32 ns.
  const DifferenceOfMeans one_tick = CompareSeries(Series(96, 1024), Series(96, 1056), 32);
  EXPECT_EQ(one_tick.estimate, 32);
  EXPECT_LT(one_tick.interval->low, 32 - 30);
  EXPECT_GT(*one_tick.p, 0.04);
  const DifferenceOfMeans far = CompareSeries(Series(96, 1024), Series(96, 2048), 32);
  EXPECT_LT(*far.p, 1e-6);
}

TEST(CompareSeries, DoesNotTakeATrendThatBothHaveForNoise) {
  std::mt19937_64 random(4);
  std::normal_distribution<double> noise(0, 1);
  Series a(511), b(189);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = 20 * double(i) / 511 + noise(random);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = 20 * double(i) / 189 + 1 + noise(random);
  const DifferenceOfMeans difference = CompareSeries(a, b, 1e-3);
  EXPECT_LT(*difference.p, 0.001);
  EXPECT_LT(difference.interval->high - difference.interval->low, 0.8);
}

TEST(CompareSeries, WarnsOfNoiseThatDriftsOverAsLongAsABlock) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> noise(0, 1);
  Series wandering(511);
  double at = 0;
  for (double& step : wandering) step = at += noise(random);
  EXPECT_THAT(CompareSeries(Series(511, 0), wandering, 1).warnings,
              ElementsAre(Warning::kSlowNoise));
}

}  // namespace
}  // namespace culprit::stats
