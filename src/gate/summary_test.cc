#include "gate/summary.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace culprit::gate {
namespace {

TEST(Summary, TellsTheWorstPositionAndNoMean) {
  Comparison comparison;
  for (int i = 0; i < 200; ++i) {
    Position position{.kl = (i + 1) / 1000.0, .cosine = 1 - (i + 1) / 1000.0};
    position.top_agrees = i != 150;
    position.identical = i < 3;
    comparison.Add(position);
  }
  const Summary summary = comparison.Summarize();
  EXPECT_EQ(summary.positions, 200u);
  EXPECT_EQ(summary.identical, 3u);
  EXPECT_EQ(summary.different, 3u);
  EXPECT_EQ(summary.disagreements, 1u);
  const Spread& kl = *summary.of(Metric::kKl);
  EXPECT_EQ(kl.median, 0.1);
  EXPECT_EQ(kl.p95, 0.19);
  EXPECT_EQ(kl.p99, 0.198);
  EXPECT_EQ(kl.worst, 0.2);
  EXPECT_EQ(kl.at, 199u);
  const Spread& cosine = *summary.of(Metric::kCosine);
  EXPECT_EQ(cosine.worst, 1 - 0.2);
  EXPECT_EQ(cosine.median, 1 - 0.1);
  EXPECT_EQ(cosine.at, 199u);
}

TEST(Summary, OfEquallyBadPositionsTheFirstIsTold) {
  Comparison comparison;
  for (const double kl : {0.1, 0.5, 0.5, 0.2}) comparison.Add({.kl = kl});
  EXPECT_EQ(comparison.Summarize().of(Metric::kKl)->at, 1u);
}

TEST(Summary, InfinityIsTheWorst) {
  Comparison comparison;
  comparison.Add({.kl = std::numeric_limits<double>::infinity()});
  comparison.Add({.kl = 1});
  const Summary summary = comparison.Summarize();
  EXPECT_TRUE(std::isinf(summary.Worst(Metric::kKl)));
  EXPECT_EQ(summary.of(Metric::kKl)->median, 1);
}

TEST(Summary, PerplexityIsOfPositionsThatBothScore) {
  Comparison comparison;
  comparison.Add({.baseline_logprob = std::log(0.5), .candidate_logprob = std::log(0.25)});
  comparison.Add({.baseline_logprob = std::log(0.5), .candidate_logprob = std::log(0.25)});
  comparison.Add({.baseline_logprob = std::log(0.9), .candidate_logprob = {}});
  const Perplexity perplexity = *comparison.Summarize().perplexity;
  EXPECT_NEAR(perplexity.baseline, 2, 1e-12);
  EXPECT_NEAR(perplexity.candidate, 4, 1e-12);
  EXPECT_NEAR(perplexity.ratio(), 2, 1e-12);
  EXPECT_EQ(perplexity.positions, 2u);
  EXPECT_EQ(perplexity.unscored, 1u);
}

TEST(Summary, OfNothingIsAbsent) {
  const Summary summary = Comparison().Summarize();
  for (const Metric metric : kMetrics) {
    EXPECT_FALSE(summary.of(metric)) << Name(metric);
    EXPECT_EQ(summary.Worst(metric), LessIsWorse(metric) ? 1 : 0);
  }
  EXPECT_FALSE(summary.perplexity);
}

}  // namespace
}  // namespace culprit::gate
