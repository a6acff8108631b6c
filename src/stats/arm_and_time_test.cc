#include "stats/arm_and_time.h"

#include <gtest/gtest.h>

#include <cmath>

namespace culprit::stats {
namespace {

TEST(ArmAndTime, FindsAnEffectAndADriftThatFitExactly) {
  const auto cost = [](double arm, double at) { return std::exp(1 + 0.02 * arm + 0.001 * at); };
  std::vector<Pair> pairs;
  for (const auto& [baseline, candidate] : {std::pair{0u, 1u}, {3u, 2u}, {5u, 4u}, {9u, 12u}}) {
    pairs.push_back({cost(0, baseline), cost(1, candidate), baseline, candidate});
  }
  const ArmAndTime fit = FitArmAndTime(pairs).value();
  EXPECT_NEAR(fit.arm, 0.02, 1e-12);
  EXPECT_NEAR(fit.slope, 0.001, 1e-12);
  EXPECT_NEAR(fit.arm_error, 0, 1e-12);
  EXPECT_NEAR(fit.slope_error, 0, 1e-12);
  EXPECT_EQ(fit.df, 5);
}

TEST(ArmAndTime, ErrorsAreThoseOfLeastSquares) {
  // ln costs 0 1 3 2 of A B B A: the arm's effect is 1, the slope 0.8 (arm and time are
  // orthogonal), residuals 0.2 -0.6 0.6 -0.2 with one degree of freedom.
  const std::vector<Pair> pairs = {{1, std::exp(1.0), 0, 1}, {std::exp(2.0), std::exp(3.0), 3, 2}};
  const ArmAndTime fit = FitArmAndTime(pairs).value();
  EXPECT_NEAR(fit.arm, 1, 1e-12);
  EXPECT_NEAR(fit.slope, 0.8, 1e-12);
  EXPECT_NEAR(fit.arm_error, std::sqrt(0.8), 1e-12);
  EXPECT_NEAR(fit.slope_error, std::sqrt(0.8 / 5), 1e-12);
  EXPECT_EQ(fit.df, 1);
}

TEST(ArmAndTime, EqualCostsHaveNoEffectNoDriftAndNoError) {
  const ArmAndTime fit = FitArmAndTime(std::vector<Pair>{{3, 3, 0, 1}, {3, 3, 3, 2}}).value();
  EXPECT_EQ(fit.arm, 0);
  EXPECT_EQ(fit.arm_error, 0);
  EXPECT_EQ(fit.slope, 0);
  EXPECT_EQ(fit.slope_error, 0);
}

TEST(ArmAndTime, PositionsThatCannotTellArmFromTimeHaveNoFit) {
  EXPECT_FALSE(FitArmAndTime(std::vector<Pair>{{3, 4, 0, 1}}));
  EXPECT_FALSE(FitArmAndTime(std::vector<Pair>{{3, 4, 0, 1}, {3, 4, 0, 1}}));
  EXPECT_FALSE(FitArmAndTime(std::vector<Pair>{{3, 4, 7, 7}, {3, 4, 7, 7}}));
}

}  // namespace
}  // namespace culprit::stats
