#include "stats/family.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace culprit::stats {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::IsEmpty;
using Values = std::vector<double>;

TEST(HolmAdjust, GivesTheFiguresOfR) {
  // R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm")
  EXPECT_THAT(HolmAdjust(Values{0.01, 0.04, 0.03, 0.005}),
              ElementsAre(DoubleEq(0.03), DoubleEq(0.06), DoubleEq(0.06), DoubleEq(0.02)));
}

TEST(HolmAdjust, LeavesASingleTestAndNoTestAlone) {
  EXPECT_THAT(HolmAdjust(Values{0.04}), ElementsAre(0.04));
  EXPECT_THAT(HolmAdjust(Values{}), IsEmpty());
}

TEST(HolmAdjust, KeepsOrderAndStaysBetweenPAndOne) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform;
  for (int round = 0; round < 100; ++round) {
    Values p(static_cast<std::size_t>(round));
    for (double& value : p) value = uniform(random);
    const Values adjusted = HolmAdjust(p);
    for (std::size_t i = 0; i < p.size(); ++i) {
      EXPECT_GE(adjusted[i], p[i]);
      EXPECT_LE(adjusted[i], 1);
      for (std::size_t k = 0; k < i; ++k) {
        EXPECT_TRUE(adjusted[k] <= adjusted[i] || p[k] > p[i]);
      }
    }
  }
}

}  // namespace
}  // namespace culprit::stats
