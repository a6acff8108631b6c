#include "gate/position.h"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <numbers>

#include "base/json.h"
#include "gate/sample_distributions.h"

namespace culprit::gate {
namespace {

using base::Json;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<TokenLogprob> ListedIn(const Json& pairs) {
  std::vector<TokenLogprob> listed;
  for (const Json& pair : pairs) {
    listed.push_back({pair.at(0).get<TokenId>(), pair.at(1).get<double>()});
  }
  return listed;
}

void ExpectNear(const Json& expected, const char* name, std::optional<double> value) {
  const Json& wanted = expected.at(name);
  if (wanted.is_null()) {
    EXPECT_TRUE(!value || *value == kInfinity) << name;
    return;
  }
  ASSERT_TRUE(value) << name;
  EXPECT_NEAR(*value, wanted.get<double>(), 1e-9) << name;
}

// From the definitions, in decimal arithmetic: tests/fixtures/gate/make_expected.
TEST(Position, AgreesWithAnIndependentComputation) {
  std::ifstream file(CULPRIT_SOURCE_DIR "/tests/fixtures/gate/expected.json");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const Json cases = base::ParseJson(text).value();
  ASSERT_EQ(cases.size(), 8u);
  for (const Json& one : cases) {
    SCOPED_TRACE(one.at("name").get<std::string>());
    const bool full = one.at("full").get<bool>();
    const auto of = [&](const char* side) {
      const auto listed = ListedIn(one.at(side));
      const std::size_t vocabulary = full ? listed.size() : 64;
      return Distribution::Make(listed, static_cast<std::int64_t>(vocabulary)).value();
    };
    const Position position =
        ComparePositions(of("baseline"), of("candidate"), one.at("forced").get<TokenId>());
    const Json& expected = one.at("expected");
    ExpectNear(expected, "kl", position.kl);
    ExpectNear(expected, "reverse_kl", position.reverse_kl);
    ExpectNear(expected, "js", position.js);
    ExpectNear(expected, "total_variation", position.total_variation);
    ExpectNear(expected, "cosine", position.cosine);
    ExpectNear(expected, "max_delta", position.max_delta);
    ExpectNear(expected, "recall", position.recall);
    ExpectNear(expected, "omitted", position.omitted);
    ExpectNear(expected, "baseline_logprob", position.baseline_logprob);
    ExpectNear(expected, "candidate_logprob", position.candidate_logprob);
    const auto rank = position.rank;
    ExpectNear(expected, "rank", rank ? std::optional(static_cast<double>(*rank)) : std::nullopt);
  }
}

TEST(Position, ADistributionIsItselfExactly) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 50; ++i) {
    const auto one = FromLogits(RandomLogits(200, 4, random));
    const Position same = ComparePositions(one, one, 3);
    EXPECT_TRUE(same.identical && same.top_agrees);
    for (const double zero : {same.kl, same.reverse_kl, same.js, same.total_variation, same.omitted,
                              same.added, same.unseen, same.max_delta, same.flip_gap}) {
      EXPECT_EQ(zero, 0);
    }
    EXPECT_EQ(same.cosine, 1);
    EXPECT_EQ(same.recall, 1);
  }
}

TEST(Position, LawsOfDivergencesHold) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 300; ++i) {
    const Logits logits = RandomLogits(50, 3, random);
    const auto p = FromLogits(logits);
    const auto q = FromLogits(WithNoise(logits, std::pow(10, -6 + i % 8), random));
    const Position forth = ComparePositions(p, q, 0), back = ComparePositions(q, p, 0);
    EXPECT_GT(forth.kl, 0);
    EXPECT_GE(forth.js, 0);
    EXPECT_LE(forth.js, std::numbers::ln2);
    EXPECT_EQ(forth.kl, back.reverse_kl);
    EXPECT_NEAR(forth.js, back.js, 1e-15);
    EXPECT_NEAR(forth.total_variation, back.total_variation, 1e-15);
    EXPECT_NEAR(*forth.cosine, *back.cosine, 1e-15);
    EXPECT_EQ(forth.flip_gap, back.flip_gap);
    // Pinsker, and Bretagnolle and Huber
    const double apart = forth.total_variation;
    EXPECT_LE(apart, std::sqrt(forth.kl / 2) + 1e-12);
    EXPECT_LE(apart, std::sqrt(-std::expm1(-forth.kl)) + 1e-12);
    EXPECT_LE(forth.js, apart * std::numbers::ln2 + 1e-15);
  }
}

// Log-probabilities are raw logits less a number of each position.
TEST(Position, TheCosineIsThatOfRawLogits) {
  std::mt19937_64 random(3);
  const Logits logits = RandomLogits(100, 2, random);
  const Logits other = WithNoise(logits, 0.5, random);
  const auto centred = [](Logits values) {
    double mean = 0;
    for (const double value : values) mean += value / static_cast<double>(values.size());
    for (double& value : values) value -= mean;
    return values;
  };
  const Logits a = centred(logits), b = centred(other);
  double both = 0, a_square = 0, b_square = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    both += a[i] * b[i];
    a_square += a[i] * a[i];
    b_square += b[i] * b[i];
  }
  const auto cosine = ComparePositions(FromLogits(logits), FromLogits(other), 0).cosine;
  EXPECT_NEAR(*cosine, both / std::sqrt(a_square * b_square), 1e-12);
  Logits shifted = other;
  for (double& logit : shifted) logit += 1234.5;
  EXPECT_NEAR(*ComparePositions(FromLogits(logits), FromLogits(shifted), 0).cosine, *cosine, 1e-12);
}

// A head that scores a shortlist with the exact logits of the whole one.
TEST(Position, AShortlistObeysItsIdentities) {
  std::mt19937_64 random(4);
  const Logits logits = WithLikeliest(RandomLogits(1000, 1, random), 17, 0.124);
  Logits kept = logits;
  kept[17] = kRuledOut;
  const Position position = ComparePositions(FromLogits(logits), FromLogits(kept), 17);
  EXPECT_NEAR(position.omitted, 0.124, 1e-12);
  EXPECT_NEAR(position.total_variation, 0.124, 1e-12);
  EXPECT_NEAR(position.reverse_kl, -std::log1p(-0.124), 1e-12);
  EXPECT_EQ(position.kl, kInfinity);
  EXPECT_NEAR(*position.cosine, 1, 1e-12);
  EXPECT_EQ(position.baseline_support, 1000u);
  EXPECT_EQ(position.candidate_support, 999u);
  EXPECT_EQ(position.rank, std::nullopt);
  EXPECT_EQ(position.flip_gap, kInfinity);
}

// A softmax in floats makes 0 of what a double still holds.
TEST(Position, WhatFloatsLoseIsNoShortlist) {
  const auto p = FromLogits({0, 0, -104});
  const auto q = FromLogits({0, 0, kRuledOut});
  const Position position = ComparePositions(p, q, 0);
  EXPECT_NEAR(position.kl, 0, 1e-30);
  EXPECT_GT(position.omitted, 0);
}

TEST(Position, EqualLikeliestTokensAgree) {
  const auto tie = FromLogits({2, 2, 0}), first = FromLogits({2.1, 2, 0}),
             second = FromLogits({2, 2.3, 0});
  EXPECT_TRUE(ComparePositions(tie, second, 0).top_agrees);
  EXPECT_TRUE(ComparePositions(second, tie, 0).top_agrees);
  const Position flipped = ComparePositions(first, second, 0);
  EXPECT_FALSE(flipped.top_agrees);
  EXPECT_NEAR(flipped.flip_gap, 0.3, 1e-12);
  EXPECT_EQ(flipped.rank, 2u);
}

// What is not listed might be anything: the bounds hold for whatever it is.
TEST(Position, AListOfTheLikeliestBoundsTheWhole) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 100; ++i) {
    const Logits logits = RandomLogits(300, 2, random);
    const auto p = Softmax(logits), q = Softmax(WithNoise(logits, 0.4, random));
    const auto make = [](const auto& listed) { return Distribution::Make(listed, 300).value(); };
    const Position whole = ComparePositions(make(p), make(q), 0);
    const Position part = ComparePositions(make(Likely(p, 40)), make(Likely(q, 40)), 0);
    EXPECT_LE(part.kl, whole.kl);
    EXPECT_LE(part.reverse_kl, whole.reverse_kl);
    EXPECT_LE(part.js, whole.js);
    EXPECT_LE(part.total_variation, whole.total_variation);
    EXPECT_GE(part.total_variation + part.unseen, whole.total_variation);
    EXPECT_EQ(part.omitted, 0);
    EXPECT_GT(part.unseen, 0);
    EXPECT_EQ(part.recall, whole.recall);
  }
}

TEST(Position, SidesOfAnyShapeAreCompared) {
  const auto one = [](std::vector<TokenLogprob> listed, std::int64_t vocabulary) {
    return Distribution::Make(std::move(listed), vocabulary).value();
  };
  const auto a = one({{0, 0}}, 10), b = one({{9, 0}}, 10);
  const Position apart = ComparePositions(a, b, 0);
  EXPECT_EQ(apart.cosine, std::nullopt);
  EXPECT_EQ(apart.recall, 0);
  EXPECT_FALSE(apart.top_agrees);
  const auto flat = FromLogits({1, 1, 1, 1});
  EXPECT_EQ(ComparePositions(flat, flat, 0, 0).cosine, std::nullopt);
  const auto steep = FromLogits({0, -9'000, -9'500, -9'999});
  EXPECT_FALSE(std::isnan(ComparePositions(flat, steep, 0).kl));
  EXPECT_FALSE(std::isnan(ComparePositions(steep, flat, 0).kl));
}

}  // namespace
}  // namespace culprit::gate
