#include "gate/distribution.h"

#include <gmock/gmock.h>

#include <limits>

#include "gate/sample_distributions.h"

namespace culprit::gate {
namespace {

using Kind = Problem::Kind;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLowest = std::numeric_limits<float>::lowest();

const double kHalf = std::log(0.5);

TEST(Distribution, IsSortedByToken) {
  const auto made = Distribution::Make({{1, kHalf}, {0, kHalf}});
  ASSERT_TRUE(made);
  EXPECT_THAT(made->listed(), testing::ElementsAre(TokenLogprob{0, kHalf}, TokenLogprob{1, kHalf}));
  EXPECT_TRUE(made->full());
  EXPECT_EQ(made->tail(), 0);
}

TEST(Distribution, IsFullWhenTheVocabularyIsListedWithoutAGap) {
  EXPECT_FALSE(Distribution::Make({{0, kHalf}, {7, kHalf}})->full());
  EXPECT_FALSE(Distribution::Make({{0, kHalf}, {1, kHalf}}, 3)->full());
  EXPECT_TRUE(Distribution::Make({{0, kHalf}, {1, kHalf}}, 2)->full());
}

TEST(Distribution, WhatIsNotListedIsTheTail) {
  const auto made = Distribution::Make({{4, kHalf}, {9, std::log(0.3)}}, 100);
  ASSERT_TRUE(made);
  EXPECT_NEAR(made->tail(), 0.2, 1e-12);
  EXPECT_EQ(made->log_scale(), 0);
}

// Floats of a server add up to a little more or less than 1.
TEST(Distribution, AFullOneIsScaledToAddUpToOne) {
  const auto made = Distribution::Make({{0, kHalf + 1e-4}, {1, kHalf + 1e-4}});
  ASSERT_TRUE(made);
  EXPECT_NEAR(*made->Logprob(0), kHalf, 1e-15);
  EXPECT_EQ(made->listed()[0].logprob, kHalf + 1e-4);
}

TEST(Distribution, FillsAreNotPossible) {
  for (const double fill : {-10'000.0, kLowest, -kInfinity}) {
    const auto made = Distribution::Make({{0, 0}, {1, fill}});
    ASSERT_TRUE(made) << fill;
    EXPECT_EQ(made->support(), 1u);
    EXPECT_EQ(made->Logprob(1), std::nullopt);
    EXPECT_EQ(made->Logprob(0), 0);
    EXPECT_EQ(made->Logprob(2), std::nullopt);
  }
}

TEST(Distribution, WhatIsNoneIsAProblemAndNoAbort) {
  const auto problem = [](std::vector<TokenLogprob> listed,
                          std::optional<std::int64_t> vocabulary = {}) {
    const auto made = Distribution::Make(std::move(listed), vocabulary);
    return made ? "none" : Describe(made.error());
  };
  EXPECT_EQ(problem({}), "it lists no token that is possible");
  EXPECT_EQ(problem({{0, -kInfinity}}), "it lists no token that is possible");
  EXPECT_EQ(problem({{0, 0}, {7, kNaN}}), "the log-probability of token 7 is no number");
  EXPECT_EQ(problem({{0, kInfinity}}),
            "the log-probability of token 0 is infinite, a probability above 1");
  EXPECT_EQ(problem({{3, 0.5}}), "the log-probability of token 3 is 0.5, a probability above 1");
  EXPECT_EQ(problem({{-1, 0}}), "token -1 is not in the vocabulary");
  EXPECT_EQ(problem({{2, 0}}, 2), "token 2 is not in the vocabulary");
  EXPECT_EQ(problem({{1, kHalf}, {0, -9}, {1, kHalf}}), "token 1 is listed twice");
  EXPECT_EQ(problem({{0, kHalf}, {1, std::log(0.4)}}), "its probabilities add up to 0.90000");
  EXPECT_EQ(problem({{0, 0}, {9, kHalf}}), "its probabilities add up to 1.50000");
  EXPECT_EQ(
      problem({{std::numeric_limits<TokenId>::max(), 0}, {std::numeric_limits<TokenId>::min(), 0}}),
      "token -2147483648 is not in the vocabulary");
}

TEST(Distribution, ShiftedTokensLeaveTheVocabulary) {
  auto listed = Softmax({1, 2, 3});
  for (auto& each : listed) ++each.token;
  const auto made = Distribution::Make(listed, 3);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, Kind::kOutsideVocabulary);
  EXPECT_EQ(made.error().token, 3);
}

}  // namespace
}  // namespace culprit::gate
