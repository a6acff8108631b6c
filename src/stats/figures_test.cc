// What one tuner of a server measured and concluded by hand, and what we say to the same numbers.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "stats/decision.h"
#include "stats/paired.h"

namespace culprit::stats {
namespace {

// The rates in tokens per second, in the order of the runs; each baseline run goes with the
// candidate's of the same number.
struct Case {
  std::vector<double> baseline, candidate;
  // Positions: old new new old old new, as the tuner alternates.
  std::vector<Pair> pairs() const {
    std::vector<Pair> pairs;
    for (std::size_t i = 0; i < baseline.size(); ++i) {
      const std::size_t turned = i % 2;
      pairs.push_back(
          {1000 / baseline[i], 1000 / candidate[i], 2 * i + turned, 2 * i + 1 - turned});
    }
    return pairs;
  }
};

double MedianRate(const std::vector<double>& rates) { return *Quantile(rates, 0.5); }

// "+21.46 %": how a figure's change is quoted, by medians.
std::string Change(double from, double to) {
  return fmt::format("{:+.2f} %", (to / from - 1) * 100);
}
std::string RateChange(const Case& c) {
  return Change(MedianRate(c.baseline), MedianRate(c.candidate));
}
std::string TimeChange(const PairedComparison& comparison) {
  return Change(comparison.baseline_median, comparison.candidate_median);
}

Verdict Judged(const Case& c, const Margin& margin) {
  const auto pairs = c.pairs();
  return Judge(Design::Fixed(pairs.size()), ComparePairs(pairs), margin);
}

// A floor of 0.4 % is assumed: no A/A session of that machine is known.
const Margin kPrefill{kPrefillMargin, base::Fraction(0.004)};
const Margin kPrefillWithoutFloor{kPrefillMargin, {}};
const Margin kDecode{kDecodeMargin, base::Fraction(0.004)};

TEST(Figures, TileCapIsAnImprovementOfPrefill) {
  const Case tile_cap{{768.90, 769.34, 768.78}, {933.88, 933.11, 933.87}};
  const PairedComparison comparison = ComparePairs(tile_cap.pairs());
  EXPECT_EQ(RateChange(tile_cap), "+21.46 %");
  EXPECT_EQ(TimeChange(comparison), "-17.67 %");
  EXPECT_NEAR(comparison.change().value(), -0.1763, 5e-5);
  EXPECT_EQ(Judged(tile_cap, kPrefill), Verdict::kImprovement);
  // Three pairs with an unknown noise floor decide no difference, however large: one pair more
  // does.
  EXPECT_EQ(Judged(tile_cap, kPrefillWithoutFloor), Verdict::kInconclusive);
  EXPECT_EQ(MorePairs(comparison, kPrefillWithoutFloor), 1u);
}

TEST(Figures, TileShapeIsNoMeaningfulDifference) {
  const Case tile_shape{{962.51, 963.73, 965.64}, {964.66, 964.68, 965.19}};
  const PairedComparison comparison = ComparePairs(tile_shape.pairs());
  EXPECT_EQ(RateChange(tile_shape), "+0.10 %");
  EXPECT_NEAR(comparison.log_ratio, -0.00077, 5e-6);
  EXPECT_NEAR(comparison.interval->low, -0.00385, 5e-6);
  EXPECT_NEAR(comparison.interval->high, 0.00231, 5e-6);
  for (const Margin& margin : {kPrefill, kPrefillWithoutFloor, kDecode}) {
    EXPECT_EQ(Judged(tile_shape, margin), Verdict::kNoMeaningfulDifference);
  }
}

TEST(Figures, ShortlistHeadIsAnImprovementOfDecode) {
  const Case head{{64.83, 61.75, 64.14}, {70.00, 71.20, 71.09}};
  const PairedComparison comparison = ComparePairs(head.pairs());
  EXPECT_EQ(MedianRate(head.baseline), 64.14);
  EXPECT_EQ(MedianRate(head.candidate), 71.09);
  EXPECT_EQ(RateChange(head), "+10.84 %");
  // 61.75 makes the interval wide: from 3 to 17 % less time.
  EXPECT_NEAR(comparison.change().value(), -0.1022, 5e-5);
  EXPECT_NEAR(comparison.interval->low, -0.1854, 5e-5);
  EXPECT_NEAR(comparison.interval->high, -0.0303, 5e-5);
  EXPECT_EQ(Judged(head, kDecode), Verdict::kImprovement);
}

TEST(Figures, FreeAnswersAreNoEvidence) {
  // Texts, lengths and acceptance differ, so these runs are void before anyone looks at their
  // times; two pairs would decide nothing anyway.
  const Case answers{{48.54, 46.52}, {47.13, 45.53}};
  EXPECT_EQ(RateChange(answers), "-2.52 %");
  EXPECT_EQ(Judged(answers, kDecode), Verdict::kInconclusive);
}

TEST(Figures, ChangesOfMediansComeOutAsStated) {
  EXPECT_EQ(Change(964.75, 1026.54), "+6.40 %");  // prefill, sparse prompt logits
  EXPECT_EQ(Change(893.09, 944.08), "+5.71 %");   // an agent's prompt: prefill rate,
  EXPECT_EQ(Change(31.569, 29.864), "-5.40 %");   // its time,
  EXPECT_EQ(Change(32.47, 30.75), "-5.30 %");     // the agent's wall time,
  EXPECT_EQ(Change(76.31, 76.17), "-0.18 %");     // and decode, which the patch leaves alone
  EXPECT_EQ(Change(63.55, 59.93), "-5.70 %");     // decode, KV cache f16 to q4_0,
  EXPECT_EQ(Change(5588, 1572), "-71.87 %");      // and the cache's MiB
  EXPECT_EQ(Change(62.71, 71.24), "+13.60 %");    // decode, a shortlist head for drafts,
  EXPECT_EQ(Change(62.71, 75.42), "+20.27 %");    // and for all
  EXPECT_EQ(Change(773.26, 797.49), "+3.13 %");   // prefill, a rebuild with another compiler
  EXPECT_EQ(Change(73.30, 71.79), "-2.06 %");     // decode, memory freed when idle
}

TEST(Figures, AMedianAloneDecidesNothing) {
  const PairedComparison comparison =
      ComparePairs(std::vector<Pair>{{1000 / 62.71, 1000 / 75.42, 0, 1}});
  EXPECT_EQ(Judge(Design::Fixed(1), comparison, kDecode), Verdict::kInconclusive);
  EXPECT_EQ(MorePairs(comparison, kDecode), 3u);
}

TEST(Figures, TheServersRateDependsOnWhatItDividesBy) {
  // eval time = 19449.49 ms / 1186 tokens: the first token was sampled before that time began.
  EXPECT_EQ(fmt::format("{:.2f}", 1186 / 19.44949), "60.98");
  EXPECT_EQ(fmt::format("{:.2f}", 1185 / 19.44949), "60.93");
}

}  // namespace
}  // namespace culprit::stats
