#include "stats/distribution.h"

#include <gtest/gtest.h>

#include <cmath>

namespace culprit::stats {
namespace {

TEST(Student, QuantilesAreThoseOfThePrintedTable) {
  EXPECT_NEAR(StudentQuantile(0.975, 1), 12.706, 5e-4);
  EXPECT_NEAR(StudentQuantile(0.975, 7), 2.365, 5e-4);
  EXPECT_NEAR(StudentQuantile(0.95, 30), 1.697, 5e-4);
  EXPECT_NEAR(StudentQuantile(0.025, 7), -2.365, 5e-4);
}

TEST(Student, TwoSidedPInvertsTheQuantile) {
  for (const double df : {1.0, 2.5, 7.0, 200.0}) {
    for (const double p : {0.9, 0.05, 1e-3, 1e-9}) {
      const double t = StudentQuantile(1 - p / 2, df);
      EXPECT_NEAR(StudentTwoSidedP(t, df), p, 1e-6 * p) << df;
      EXPECT_EQ(StudentTwoSidedP(-t, df), StudentTwoSidedP(t, df));
    }
  }
}

TEST(Student, TwoSidedPIsOneAtZeroAndVanishesFarOut) {
  EXPECT_EQ(StudentTwoSidedP(0, 7), 1);
  EXPECT_LT(StudentTwoSidedP(1e18, 7), 1e-100);
  EXPECT_GE(StudentTwoSidedP(1e300, 7), 0);
}

TEST(Student, DetectableShiftIsThatOfThePlanningTable) {
  // In standard deviations of a pair, for a t test of n pairs at 5 % with a power of 80 %.
  const auto pairs = [](double n) {
    return DetectableShift(0.8, StudentQuantile(0.975, n - 1), n - 1) / std::sqrt(n);
  };
  EXPECT_NEAR(pairs(3), 3.26, 0.01);
  EXPECT_NEAR(pairs(4), 2.13, 0.01);
  EXPECT_NEAR(pairs(5), 1.69, 0.01);
  EXPECT_NEAR(pairs(6), 1.44, 0.01);
  EXPECT_NEAR(pairs(8), 1.16, 0.01);
  EXPECT_NEAR(pairs(10), 0.99, 0.01);
}

}  // namespace
}  // namespace culprit::stats
