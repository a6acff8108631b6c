#include <gmock/gmock.h>

#include <limits>

#include "gate/gate_run.h"
#include "gate/sample_distributions.h"

namespace culprit::gate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Level kDefault = DefaultLevel();

Level At(const char* text) { return ParseLevel(text).value(); }

// A text of positions whose candidate is the baseline with noise on its logits.
Comparison Noisy(std::size_t positions, double noise, std::size_t vocabulary = 400) {
  std::mt19937_64 random(7);
  Comparison comparison;
  for (std::size_t i = 0; i < positions; ++i) {
    const Logits logits = RandomLogits(vocabulary, 3, random);
    const auto baseline = FromLogits(logits);
    comparison.Add(ComparePositions(baseline, FromLogits(WithNoise(logits, noise, random)), 0));
  }
  return comparison;
}

// What a shortlist head did in practice: exact logits of nearly all tokens, and at one position a
// token is left out that had 12 % of the probability.
Comparison FlashHead() {
  std::mt19937_64 random(8);
  Comparison comparison;
  for (std::size_t i = 0; i < 32; ++i) {
    const double share = i == 16 ? 0.12 : 1e-4;
    const Logits logits = WithLikeliest(RandomLogits(400, 3, random), 5, share);
    Logits kept = WithNoise(logits, 0.01, random);
    kept[5] = kRuledOut;
    comparison.Add(ComparePositions(FromLogits(logits), FromLogits(kept), 9));
  }
  return comparison;
}

TEST(Judge, TheSameBitsAreIdentical) {
  const auto same = Noisy(10, 0);
  const auto result = Judge({.between = same}, At("strict"));
  EXPECT_EQ(result.outcome, Outcome::kIdentical);
  EXPECT_TRUE(result.passed());
  EXPECT_THAT(Explain(result, "f16", "again"),
              ElementsAre("again answers exactly as f16 does, the log-probabilities of all 10 "
                          "positions bit for bit the same: identical."));
}

TEST(Judge, SmallNoiseIsEquivalentButNotStrictly) {
  const auto near = Noisy(200, 0.02);
  const auto result = Judge({.between = near}, kDefault);
  EXPECT_EQ(result.outcome, Outcome::kEquivalent);
  EXPECT_THAT(Explain(result, "f16", "q8")[0],
              "q8 answers as f16 does within the bounds of the level default: equivalent.");
  const auto strict = Judge({.between = near}, At("strict"));
  EXPECT_EQ(strict.outcome, Outcome::kDiverged);
  EXPECT_EQ(strict.at, 0u);
}

TEST(Judge, LargeNoiseDiverges) {
  const auto far = Noisy(200, 1);
  const auto result = Judge({.between = far}, kDefault);
  EXPECT_EQ(result.outcome, Outcome::kDiverged);
  EXPECT_FALSE(result.passed());
  EXPECT_FALSE(result.breaches.empty());
}

// The mean of the cosines is above 0.999, and the minimum too.
TEST(Judge, OnePositionThatLostATokenFailsTheDefaultLevel) {
  const auto comparison = FlashHead();
  double mean = 0;
  for (const Position& position : comparison.positions()) mean += *position.cosine / 32;
  EXPECT_GT(mean, 0.999);
  EXPECT_GT(comparison.Summarize().Worst(Metric::kCosine), 0.999);
  const auto result = Judge({.between = comparison}, kDefault);
  EXPECT_EQ(result.outcome, Outcome::kDiverged);
  EXPECT_EQ(result.at, 16u);
  ASSERT_EQ(result.breaches.size(), 2u);
  const auto sentences = Explain(result, "dense", "flashhead");
  EXPECT_EQ(sentences[0], "flashhead does not answer as dense does, from token 17 on: diverged.");
  EXPECT_EQ(sentences[1],
            "The total variation is 12.00 % at token 17 of 32, and may be 10.00 % at most.");
  EXPECT_EQ(sentences[2],
            "The omitted probability is 12.00 % at token 17 of 32, and may be 1.00 % at most.");
  for (const char* level : {"cosine=0.99", "ppl=0.5", "kl=1", "strict"}) {
    EXPECT_EQ(Judge({.between = comparison}, At(level)).outcome, Outcome::kDiverged) << level;
  }
}

TEST(Judge, OnePercentOfPositionsMayExceedTheBoundOfTheRest) {
  Comparison comparison;
  for (int i = 0; i < 200; ++i)
    comparison.Add({.kl = i % 90 == 0 ? 0.1 : 0.01, .top_agrees = true});
  // Three of 200 are beyond, two may be.
  const auto result = Judge({.between = comparison}, kDefault);
  EXPECT_EQ(result.outcome, Outcome::kDiverged);
  ASSERT_EQ(result.breaches.size(), 1u);
  EXPECT_EQ(result.breaches[0].position, 0u);
  EXPECT_THAT(Explain(result, "a", "b")[1],
              "The KL divergence is above 0.05 nats at 3 of 200 positions, of which 2 may, from "
              "token 1 on.");
  Comparison fewer;
  for (int i = 0; i < 200; ++i) fewer.Add({.kl = i % 190 == 0 ? 0.1 : 0.01, .top_agrees = true});
  EXPECT_EQ(Judge({.between = fewer}, kDefault).outcome, Outcome::kEquivalent);
}

TEST(Judge, OnlyWhatExceedsASidesOwnNoiseCounts) {
  const auto between = Noisy(50, 0.02), itself = Noisy(50, 0.05);
  Evidence evidence{.between = between};
  EXPECT_EQ(Judge(evidence, At("strict")).outcome, Outcome::kDiverged);
  EXPECT_EQ(Judge(evidence, At("kl=0.000001")).outcome, Outcome::kDiverged);
  evidence.candidate_itself = itself.Summarize();
  EXPECT_EQ(Judge(evidence, At("strict")).outcome, Outcome::kEquivalent);
  EXPECT_EQ(Judge(evidence, At("kl=0.000001")).outcome, Outcome::kEquivalent);
}

// A server that answers at random must not become the measure of another.
TEST(Judge, NoiseBeyondTheDefaultBoundsIsNoMeasure) {
  const auto between = Noisy(50, 0.02), itself = Noisy(50, 2);
  Evidence evidence{.between = between, .candidate_itself = itself.Summarize()};
  const auto result = Judge(evidence, kDefault);
  EXPECT_EQ(result.outcome, Outcome::kNotComparable);
  EXPECT_THAT(result.text,
              HasSubstr("the candidate does not give the same answer twice: at token"));
}

TEST(Judge, AFlawIsBrokenAndNamed) {
  const auto same = Noisy(3, 0);
  const auto result =
      Judge({.between = same, .flaw = Flaw{Side::kCandidate, 3, "its probabilities add up to 0.9"}},
            kDefault);
  EXPECT_EQ(result.outcome, Outcome::kBroken);
  EXPECT_EQ(result.at, 3u);
  EXPECT_EQ(Explain(result, "a", "b")[0],
            "b is broken: at token 4 its probabilities add up to 0.9.");
}

TEST(Judge, TextThatIsNonsenseToTheCandidateIsBroken) {
  Comparison comparison;
  for (int i = 0; i < 20; ++i) comparison.Add({.baseline_logprob = -0.1, .candidate_logprob = -4});
  const auto result = Judge({.between = comparison}, kDefault);
  EXPECT_EQ(result.outcome, Outcome::kBroken);
  EXPECT_THAT(Explain(result, "a", "b")[0], HasSubstr("over ten times as surprising"));
}

TEST(Judge, APerplexityIsBoundedInBothDirections) {
  Comparison comparison;
  Position position{.top_agrees = true, .baseline_logprob = -1, .candidate_logprob = -1.1};
  comparison.Add(position);
  EXPECT_EQ(Judge({.between = comparison}, At("ppl=0.2")).outcome, Outcome::kEquivalent);
  EXPECT_TRUE(Judge({.between = comparison}, At("ppl=0.1")).perplexity_out_of_bounds);
  Comparison better;
  std::swap(position.baseline_logprob, position.candidate_logprob);
  better.Add(position);
  EXPECT_EQ(Judge({.between = better}, At("ppl=0.1")).outcome, Outcome::kDiverged);
}

TEST(Judge, ForksThatAreNearTiesPassTheDefaultLevel) {
  const auto near = Noisy(50, 0.001);
  Evidence evidence{.between = near, .fork = Fork{.at = 7, .baseline = 1, .candidate = 2}};
  evidence.fork->gap = 0.125;
  const auto tie = Judge(evidence, kDefault);
  EXPECT_EQ(tie.outcome, Outcome::kEquivalent);
  EXPECT_THAT(Explain(tie, "a", "b"),
              testing::Contains("Running freely, the two choose other tokens from token 8 on: a "
                                "near-tie, the two tokens are 0.125 nats apart."));
  EXPECT_EQ(Judge(evidence, At("strict")).outcome, Outcome::kDiverged);
  evidence.fork->gap = 0.7;
  const auto clear = Judge(evidence, kDefault);
  EXPECT_EQ(clear.outcome, Outcome::kDiverged);
  EXPECT_EQ(clear.at, 7u);
}

TEST(Judge, AnAnswerThatEndsEarlyIsBroken) {
  const auto same = Noisy(3, 0);
  const auto result =
      Judge({.between = same, .fork = Fork{.at = 3, .baseline = 1, .candidate = {}}}, kDefault);
  EXPECT_EQ(result.outcome, Outcome::kBroken);
  EXPECT_THAT(Explain(result, "a", "b")[0], HasSubstr("b is broken: it ended its answer after 3"));
}

TEST(Judge, WhatIsNotListedMayNotHideADifference) {
  Comparison comparison;
  comparison.Add({.partial = true, .total_variation = 0.01, .unseen = 0.4, .top_agrees = true});
  EXPECT_EQ(Judge({.between = comparison}, kDefault).outcome, Outcome::kNotComparable);
  // No bound on a divergence holds for what is not listed.
  EXPECT_EQ(Judge({.between = comparison}, At("kl=0.1")).outcome, Outcome::kNotComparable);
  Comparison little;
  little.Add({.partial = true, .total_variation = 0.01, .unseen = 0.02, .top_agrees = true});
  EXPECT_EQ(Judge({.between = little}, kDefault).outcome, Outcome::kEquivalent);
  EXPECT_EQ(Judge({.between = little}, At("strict")).outcome, Outcome::kDiverged);
}

// Lists that are the same say nothing of what is not in them.
TEST(Judge, ListsOfTheLikeliestAreNeverIdentical) {
  std::mt19937_64 random(9);
  const auto listed = Likely(Softmax(RandomLogits(300, 4, random)), 200);
  const auto likeliest = Distribution::Make(listed, 300).value();
  Comparison comparison;
  comparison.Add(ComparePositions(likeliest, likeliest, 0));
  EXPECT_EQ(comparison.Summarize().identical, 1u);
  EXPECT_EQ(Judge({.between = comparison}, kDefault).outcome, Outcome::kEquivalent);
  const auto strict = Judge({.between = comparison}, At("strict"));
  EXPECT_EQ(strict.outcome, Outcome::kNotComparable);
  EXPECT_THAT(strict.text, HasSubstr("strict needs the whole vocabulary"));
}

TEST(Judge, WithoutPositionsNothingIsSaid) {
  const Comparison nothing;
  EXPECT_EQ(Judge({.between = nothing}, kDefault).outcome, Outcome::kNotComparable);
  const auto other =
      Judge({.between = nothing, .not_comparable = "its vocabulary is another"}, kDefault);
  EXPECT_EQ(Explain(other, "a", "b"),
            std::vector<std::string>{"b cannot be compared with a: its vocabulary is another."});
}

TEST(Level, IsParsedOrRefused) {
  EXPECT_EQ(At("default").bounds.size(), 8u);
  EXPECT_TRUE(At("strict").strict);
  EXPECT_EQ(At("cosine=0.99").bounds[0].limit, 0.99);
  EXPECT_EQ(At("ppl=0.01").perplexity, base::Fraction(0.01));
  for (const char* text : {"", "exact", "cosine", "cosine=", "cosine=1.5", "kl=-1", "kl=nan",
                           "kl=inf", "ppl=1%", "strict=1", "mean=0.9"}) {
    const auto level = ParseLevel(text);
    ASSERT_FALSE(level) << text;
    EXPECT_EQ(level.error().code, base::ErrorCode::kUsage);
  }
}

Evidence Same(const Comparison& between) { return {.between = between}; }

TEST(Judge, AForkToWhatASideRulesOutIsNoNearTie) {
  const auto same = Noisy(64, 0);
  Evidence evidence = Same(same);
  evidence.fork =
      Fork{.at = 3, .baseline = 1, .candidate = 2, .gap = std::numeric_limits<double>::infinity()};
  const auto result = Judge(evidence, kDefault);
  EXPECT_EQ(result.outcome, Outcome::kDiverged);
  EXPECT_EQ(result.at, 3u);
}

// The edge of a shortlist moves with the last digits: what is lost there is bounded by itself.
TEST(Judge, AnInfiniteDivergenceCountsInNoSideCheckByItself) {
  const auto same = Noisy(64, 0);
  Evidence evidence = Same(same);
  const double infinite = std::numeric_limits<double>::infinity();
  const Position edge{.kl = infinite,
                      .reverse_kl = infinite,
                      .total_variation = 1e-4,
                      .omitted = 1e-4,
                      .added = 1e-4};
  evidence.candidate_cache = edge;
  evidence.candidate_itself = Comparison({edge}).Summarize();
  EXPECT_TRUE(Judge(evidence, kDefault).passed());
  Position lost = edge;
  lost.omitted = 0.05;
  evidence.candidate_cache = lost;
  EXPECT_EQ(Judge(evidence, kDefault).outcome, Outcome::kDiverged);
  evidence.candidate_itself = Comparison({lost}).Summarize();
  EXPECT_EQ(Judge(evidence, kDefault).outcome, Outcome::kNotComparable);
}

TEST(Judge, ALevelThatAsksForWhatThereIsNotIsNotComparable) {
  const Comparison none(std::vector<Position>(8, Position{.total_variation = 0.001}));
  const auto result = Judge({.between = none}, At("cosine=1"));
  EXPECT_EQ(result.outcome, Outcome::kNotComparable);
  EXPECT_EQ(result.text, "at token 1 they have too few tokens in common for a cosine");
  const Comparison few(std::vector<Position>(
      8, Position{.partial = true, .unseen = 0.2, .cosine = 1.0, .top_agrees = true}));
  for (const char* level : {"cosine=0.9", "kl=1", "default"}) {
    EXPECT_EQ(Judge({.between = few}, At(level)).outcome, Outcome::kNotComparable) << level;
  }
}

TEST(Judge, GoingInCirclesAloneIsADivergence) {
  const auto same = Noisy(64, 0);
  Evidence evidence = Same(same);
  evidence.fork = Fork{.at = 3, .baseline = 1, .candidate = 2, .gap = 0.1};
  EXPECT_TRUE(Judge(evidence, kDefault).passed());
  evidence.candidate_loop = Loop{.period = 5, .times = 12, .from = 4};
  const auto result = Judge(evidence, kDefault);
  EXPECT_EQ(result.outcome, Outcome::kDiverged);
  EXPECT_EQ(result.at, 4u);
  EXPECT_THAT(Explain(result, "f16", "q8")[1],
              "Running freely, q8 goes in circles from token 5 on, 5 tokens 12 times over, and f16 "
              "does not.");
  // Until they parted both ran in the same circles.
  evidence.fork->at = 4 + kExcusingTokens;
  EXPECT_TRUE(Judge(evidence, kDefault).passed());
  evidence.fork->at = 3;
  evidence.baseline_loop = evidence.candidate_loop;
  EXPECT_TRUE(Judge(evidence, kDefault).passed());
}

TEST(Judge, ACacheThatChangesTheAnswerIsADivergenceUnlessTheBaselinesDoes) {
  const auto same = Noisy(64, 0);
  Evidence evidence = Same(same);
  evidence.candidate_cache = Position{.total_variation = 0.02};
  EXPECT_EQ(Judge(evidence, kDefault).outcome, Outcome::kIdentical);
  evidence.candidate_cache = Position{.total_variation = 0.3};
  const auto result = Judge(evidence, At("cosine=0.9"));
  EXPECT_EQ(result.outcome, Outcome::kDiverged);
  EXPECT_EQ(result.at, 63u);
  EXPECT_THAT(Explain(result, "a", "b")[1],
              "With its prefix cache b answers otherwise than without: the total variation between "
              "the two is 30.00 % at token 64, and may be 10.00 % at most.");
  evidence.baseline_cache = Position{.total_variation = 0.4};
  EXPECT_EQ(Judge(evidence, kDefault).outcome, Outcome::kIdentical);
}

TEST(Judge, OtherTokensOfAConversationAreADivergence) {
  const auto same = Noisy(64, 0);
  Evidence evidence = Same(same);
  evidence.other_chat = "its token 3 is 5 to the baseline and 6 to the candidate";
  const auto result = Judge(evidence, kDefault);
  EXPECT_EQ(result.outcome, Outcome::kDiverged);
  EXPECT_THAT(Explain(result, "a", "b")[0], "b does not answer as a does: diverged.");
  EXPECT_THAT(
      Explain(result, "a", "b")[1],
      "The two read a conversation otherwise: its token 3 is 5 to the baseline and 6 to the "
      "candidate.");
}

TEST(GateRun, IsJudgedByItsWorstText) {
  Candidate good{.label = "q8", .positions = Noisy(8, 0).positions()}, bad = good, none = good;
  bad.flaw = Flaw{Side::kCandidate, {}, "llama-server left before it was healthy"};
  none.not_comparable = "it is another model";
  GateRun run{.baseline = "f16"};
  run.probes = {
      {.candidates = {good, none}}, {.candidates = {bad, none}}, {.candidates = {good, none}}};
  const auto verdicts = JudgeRun(run);
  ASSERT_EQ(verdicts.size(), 2u);
  EXPECT_EQ(verdicts[0].worst, 1u);
  EXPECT_EQ(verdicts[0].result().outcome, Outcome::kBroken);
  EXPECT_EQ(verdicts[0].result().text, "llama-server left before it was healthy");
  EXPECT_EQ(Decide(verdicts), Decision::kFailed);
  EXPECT_EQ(Decide({verdicts[1]}), Decision::kCannotTell);
  EXPECT_EQ(Decide({}), Decision::kPassed);
}

TEST(Fork, IsTheFirstOtherToken) {
  const std::vector<TokenId> one = {5, 6, 7}, other = {5, 6, 8}, shorter = {5};
  EXPECT_FALSE(FindFork(one, one));
  const auto fork = FindFork(one, other);
  EXPECT_EQ(fork->at, 2u);
  EXPECT_EQ(fork->baseline, 7);
  EXPECT_EQ(fork->candidate, 8);
  EXPECT_FALSE(fork->ended_early());
  const auto ended = FindFork(one, shorter);
  EXPECT_EQ(ended->at, 1u);
  EXPECT_TRUE(ended->ended_early());
}

TEST(Fork, IsANearTieOnlyIfItIsOneOnBothSides) {
  const auto near = FromLogits({1, 1.1, 0}), far = FromLogits({3, 1, 0});
  EXPECT_NEAR(TieGap(near, near, 0, 1), 0.1, 1e-12);
  EXPECT_NEAR(TieGap(near, far, 0, 1), 2, 1e-12);
  EXPECT_EQ(TieGap(near, FromLogits({1, kRuledOut, 0}), 0, 1),
            std::numeric_limits<double>::infinity());
  // A list of the two likeliest of many, from ln 0.6 and ln 0.2: what it lacks is no likelier.
  const auto listed = Distribution::Make({{0, std::log(0.6)}, {1, std::log(0.2)}}, 100).value();
  EXPECT_NEAR(TieGap(listed, listed, 0, 50), std::log(3), 1e-12);
}

}  // namespace
}  // namespace culprit::gate
