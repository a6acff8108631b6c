#include "stats/sample.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace culprit::stats {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Values = std::vector<double>;

TEST(Sample, SummarizesBySeveralFigures) {
  const Summary summary = Summarize(Values{4, 1, 3, 2});
  EXPECT_EQ(summary.n, 4u);
  EXPECT_EQ(summary.mean, 2.5);
  EXPECT_DOUBLE_EQ(summary.sd.value(), std::sqrt(5.0 / 3));
  EXPECT_EQ(summary.median, 2.5);
  EXPECT_THAT(summary.warnings, IsEmpty());
}

TEST(Sample, HasNoDeviationWithASingleValue) {
  const Summary summary = Summarize(Values{7});
  EXPECT_EQ(summary.mean, 7);
  EXPECT_EQ(summary.median, 7);
  EXPECT_FALSE(summary.sd);
  EXPECT_THAT(summary.warnings, ElementsAre(Warning::kNoSpread));
}

TEST(Sample, HasNothingWithoutValues) {
  const Summary summary = Summarize({});
  EXPECT_EQ(summary.n, 0u);
  EXPECT_FALSE(summary.mean || summary.sd || summary.median);
  EXPECT_THAT(summary.warnings, ElementsAre(Warning::kNoSpread));
}

TEST(Sample, VarianceOfLargeCloseValuesDoesNotCancel) {
  EXPECT_DOUBLE_EQ(Variance(Values{1e15 + 1, 1e15 + 2, 1e15 + 3}).value(), 1);
}

TEST(Sample, QuantilesInterpolateAndReachBothEnds) {
  const Values values = {40, 10, 30, 20};
  EXPECT_EQ(Quantile(values, 0), 10);
  EXPECT_EQ(Quantile(values, 0.25), 17.5);
  EXPECT_EQ(Quantile(values, 0.5), 25);
  EXPECT_EQ(Quantile(values, 1), 40);
  EXPECT_FALSE(Quantile({}, 0.5));
}

TEST(Sample, HodgesLehmannIsTheMedianOfPairwiseMeans) {
  // The ten means are 1 1.5 2 2.5 3 | 4 5 5.5 6.5 9.
  EXPECT_EQ(HodgesLehmann(Values{1, 2, 4, 9}), 3.5);
  EXPECT_EQ(HodgesLehmann(Values{7}), 7);
  EXPECT_FALSE(HodgesLehmann({}));
}

TEST(Sample, AnOutlierHardlyMovesHodgesLehmann) {
  EXPECT_EQ(HodgesLehmann(Values{1, 2, 3, 4, 5, 1000}), 3.5);
}

}  // namespace
}  // namespace culprit::stats
