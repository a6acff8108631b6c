#include "stats/decision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "stats/distribution.h"

namespace culprit::stats {
namespace {

using testing::ElementsAre;

// A comparison with this estimate and half-width at the design's level.
PairedComparison Comparison(const Design& design, std::size_t pairs, double log_ratio,
                            double half_width) {
  PairedComparison comparison{};
  comparison.pairs = pairs;
  comparison.log_ratio = comparison.robust_log_ratio = log_ratio;
  comparison.level = design.level();
  const auto df = static_cast<double>(pairs - 1);
  comparison.error = {half_width / StudentQuantile(1 - design.level() / 2, df), df};
  comparison.interval = comparison.IntervalAt(design.level());
  return comparison;
}

Verdict JudgeSix(double log_ratio, double half_width, const Margin& margin = {}) {
  const Design design = Design::Fixed(6);
  return Judge(design, Comparison(design, 6, log_ratio, half_width), margin);
}

TEST(Design, SequentialLooksHaveTheTOfTheirTable) {
  const Design design = Design::Sequential();
  EXPECT_THAT(design.looks(), ElementsAre(4, 6, 8, 10));
  std::vector<double> t;
  for (const std::size_t look : design.looks()) {
    t.push_back(StudentQuantile(1 - design.level() / 2, static_cast<double>(look - 1)));
  }
  EXPECT_NEAR(t[0], 4.72, 0.01);
  EXPECT_NEAR(t[1], 3.46, 0.01);
  EXPECT_NEAR(t[2], 3.07, 0.01);
  EXPECT_NEAR(t[3], 2.89, 0.01);
}

TEST(Design, ASmallerCapDropsLooksAndThreePairsHaveTheirOwn) {
  EXPECT_THAT(Design::Sequential(7).looks(), ElementsAre(4, 6));
  EXPECT_THAT(Design::Sequential(50).looks(), ElementsAre(4, 6, 8, 10));
  const Design three = Design::Sequential(3);
  EXPECT_THAT(three.looks(), ElementsAre(3));
  EXPECT_NEAR(StudentQuantile(1 - three.level() / 2, 2), 9.03, 0.02);
}

TEST(Design, AFixedOneLooksOnceAt95Percent) {
  const Design design = Design::Fixed(5);
  EXPECT_THAT(design.looks(), ElementsAre(5));
  EXPECT_EQ(design.level(), 0.05);
  EXPECT_FALSE(design.IsLook(4));
  EXPECT_TRUE(design.IsLook(5));
}

TEST(Judge, ADifferenceNeedsAnIntervalWithoutZeroAndAChangeOfTheMargin) {
  EXPECT_EQ(JudgeSix(0.020, 0.015), Verdict::kRegression);
  EXPECT_EQ(JudgeSix(-0.020, 0.015), Verdict::kImprovement);
  EXPECT_EQ(JudgeSix(0.020, 0.021), Verdict::kInconclusive);
  EXPECT_EQ(JudgeSix(0.0099, 0.009),
            Verdict::kInconclusive);  // surely above 0, too small to matter
  EXPECT_EQ(JudgeSix(std::log(1.01), 0.009), Verdict::kRegression);
}

TEST(Judge, NoMeaningfulDifferenceNeedsTheNarrowerIntervalWithinTheMargin) {
  EXPECT_EQ(JudgeSix(0, 0.004), Verdict::kNoMeaningfulDifference);
  EXPECT_EQ(JudgeSix(0.004, 0.003), Verdict::kNoMeaningfulDifference);  // there, but small
  EXPECT_EQ(JudgeSix(0, 0.012), Verdict::kNoMeaningfulDifference);      // 90 %: 0.0094
  EXPECT_EQ(JudgeSix(0, 0.014), Verdict::kInconclusive);                // 90 %: 0.0110
  EXPECT_EQ(JudgeSix(-0.008, 0.003), Verdict::kInconclusive);
}

TEST(Judge, ALargerNoiseFloorIsTheMargin) {
  EXPECT_EQ(JudgeSix(0.02, 0.015, {kDecodeMargin, base::Fraction(0.03)}), Verdict::kInconclusive);
  EXPECT_EQ(JudgeSix(0.02, 0.01, {kDecodeMargin, base::Fraction(0.002)}), Verdict::kRegression);
  EXPECT_EQ(JudgeSix(0.015, 0.01, {kPrefillMargin, {}}), Verdict::kInconclusive);
}

TEST(Judge, DecidesNothingBetweenLooks) {
  const Design design = Design::Sequential();
  EXPECT_EQ(Judge(design, Comparison(design, 5, 0.1, 0.01), {}), Verdict::kInconclusive);
  EXPECT_EQ(Judge(design, Comparison(design, 6, 0.1, 0.01), {}), Verdict::kRegression);
}

TEST(Judge, DecidesNothingWhereTheRobustEstimateDisagrees) {
  const Design design = Design::Fixed(6);
  PairedComparison comparison = Comparison(design, 6, 0.1, 0.01);
  comparison.warnings.push_back(Warning::kUnstable);
  EXPECT_EQ(Judge(design, comparison, {}), Verdict::kInconclusive);
}

TEST(Judge, WithThreePairsADifferenceNeedsTheNoiseFloor) {
  const Design design = Design::Fixed(3);
  const PairedComparison comparison = Comparison(design, 3, 0.05, 0.01);
  EXPECT_EQ(Judge(design, comparison, {}), Verdict::kInconclusive);
  EXPECT_EQ(Judge(design, comparison, {kDecodeMargin, base::Fraction(0.004)}),
            Verdict::kRegression);
  EXPECT_EQ(Judge(design, comparison, {kDecodeMargin, base::Fraction(0.055)}),
            Verdict::kInconclusive);
  const Design two = Design::Fixed(2);
  EXPECT_EQ(Judge(two, Comparison(two, 2, 0.05, 0.01), {kDecodeMargin, base::Fraction(0.004)}),
            Verdict::kInconclusive);
}

TEST(MorePairs, AreThoseThatNarrowTheIntervalEnough) {
  const Design design = Design::Fixed(4);
  // An sd of 1 % a pair: 6 pairs reach ±1.05 %, 8 reach ±0.84 %.
  const double half_width = 0.01 / 2 * StudentQuantile(0.975, 3);
  EXPECT_EQ(MorePairs(Comparison(design, 4, 0.0110, half_width), {}), 2u);
  EXPECT_EQ(MorePairs(Comparison(design, 4, 0.0100, half_width), {kDecodeMargin, {}}), 4u);
  EXPECT_EQ(MorePairs(Comparison(design, 4, 0.0000, half_width), {}), 2u);  // 90 %: 0.82 %
  EXPECT_EQ(MorePairs(Comparison(design, 4, 0.0095, half_width), {}), std::nullopt);
  EXPECT_EQ(MorePairs(ComparePairs(std::vector<Pair>{{1, 1.1, 0, 1}}), {}), 3u);
}

TEST(Next, StopsAtTheFirstLookThatDecidesAndAtTheCap) {
  const Design design = Design::Sequential(8);
  const auto next = [&](std::size_t pairs, double log_ratio, double half_width) {
    return Next(design, Comparison(design, pairs, log_ratio, half_width), {});
  };
  EXPECT_EQ(next(3, 0.05, 0.01), NextStep::kContinue);
  EXPECT_EQ(next(4, 0.05, 0.06), NextStep::kContinue);
  EXPECT_EQ(next(4, 0.05, 0.01), NextStep::kStopForDifference);
  EXPECT_EQ(next(4, -0.05, 0.01), NextStep::kStopForDifference);
  EXPECT_EQ(next(6, 0.001, 0.005), NextStep::kStopForEquivalence);
  EXPECT_EQ(next(8, 0.05, 0.06), NextStep::kCapReached);
  EXPECT_EQ(next(9, 0.05, 0.06), NextStep::kCapReached);
}

TEST(NoiseFloor, IsTheQuantileOfTheSizesOfChanges) {
  EXPECT_FALSE(NoiseFloor({}, {}));
  EXPECT_NEAR(NoiseFloor(std::vector<double>{-0.004}, {})->value(), std::expm1(0.004), 1e-15);
  // 41 sizes from 0 to 0.040 by 0.001, of either sign: the 97.5 % quantile is 0.039.
  std::vector<double> ratios;
  for (int i = 0; i <= 40; ++i) ratios.push_back((i % 2 == 0 ? 0.001 : -0.001) * i);
  EXPECT_NEAR(NoiseFloor(ratios, {})->value(), std::expm1(0.039), 1e-12);
}

TEST(NoiseFloor, IsNoSmallerThanWhatASessionCouldHaveCome) {
  const std::vector<double> ratios = {-0.0188, 0.002}, half_widths = {0.375, 0.4};
  EXPECT_NEAR(NoiseFloor(ratios, half_widths)->value(), std::expm1(0.3875), 1e-12);
}

}  // namespace
}  // namespace culprit::stats
