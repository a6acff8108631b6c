#include "stats/distribution.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace culprit::stats
