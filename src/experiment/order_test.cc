#include "experiment/order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

namespace culprit::experiment {
namespace {

using testing::ElementsAre;

// "AB BA BA": the order as people write it.
std::string Written(const std::vector<Slot>& order) {
  std::string text;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i > 0 && order[i].pair != order[i - 1].pair) text += ' ';
    text += static_cast<char>('A' + order[i].variant);
  }
  return text;
}

// Where the runs of each variant lie, to the power of degree, added up.
std::map<std::size_t, std::size_t> Moments(const std::vector<Slot>& order, int degree) {
  std::map<std::size_t, std::size_t> moments;
  for (const Slot& slot : order) {
    std::size_t power = 1;
    for (int i = 0; i < degree; ++i) power *= slot.position;
    moments[slot.variant] += power;
  }
  return moments;
}

bool AllEqual(const std::map<std::size_t, std::size_t>& moments) {
  std::set<std::size_t> values;
  for (const auto& [variant, value] : moments) values.insert(value);
  return values.size() == 1;
}

TEST(OrderOfTrials, FollowsThueAndMorseFromARandomFirstVariant) {
  std::set<std::string> orders;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    orders.insert(Written(OrderOfTrials(2, 8, seed)));
  }
  EXPECT_THAT(orders, ElementsAre("AB BA BA AB BA AB AB BA", "BA AB AB BA AB BA BA AB"));
}

TEST(OrderOfTrials, NumbersPairsAndPositions) {
  const std::vector<Slot> order = OrderOfTrials(2, 2, 1);
  const std::size_t first = order[0].variant;
  EXPECT_THAT(order, ElementsAre(Slot{0, 0, first}, Slot{0, 1, 1 - first}, Slot{1, 2, 1 - first},
                                 Slot{1, 3, first}));
  EXPECT_TRUE(OrderOfTrials(2, 0, 1).empty());
}

TEST(OrderOfTrials, IsTheSameForTheSameSeedAndALongerOneBeginsAlike) {
  for (const std::size_t variants : {2u, 3u, 5u}) {
    const std::vector<Slot> longer = OrderOfTrials(variants, 9, 7);
    const std::vector<Slot> shorter = OrderOfTrials(variants, 4, 7);
    EXPECT_TRUE(std::equal(shorter.begin(), shorter.end(), longer.begin()));
    EXPECT_NE(OrderOfTrials(5, 2, 1), OrderOfTrials(5, 2, 2));
  }
}

TEST(OrderOfTrials, EachPairHoldsEachVariantOnce) {
  for (std::size_t variants = 2; variants < 7; ++variants) {
    const std::vector<Slot> order = OrderOfTrials(variants, 10, variants);
    ASSERT_EQ(order.size(), 10 * variants);
    std::set<std::pair<std::size_t, std::size_t>> seen;
    for (std::size_t i = 0; i < order.size(); ++i) {
      EXPECT_EQ(order[i].position, i);
      EXPECT_EQ(order[i].pair, i / variants);
      seen.insert({order[i].pair, order[i].variant});
    }
    EXPECT_EQ(seen.size(), order.size());
  }
}

TEST(OrderOfTrials, ALinearDriftCancelsOverEachTwoPairs) {
  for (std::size_t variants = 2; variants < 7; ++variants) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      for (std::size_t pairs = 2; pairs <= 10; pairs += 2) {
        EXPECT_TRUE(AllEqual(Moments(OrderOfTrials(variants, pairs, seed), 1)));
      }
    }
  }
}

TEST(OrderOfTrials, AQuadraticDriftOfTwoVariantsCancelsOverEachFourPairs) {
  for (const std::size_t pairs : {4u, 8u}) {
    EXPECT_TRUE(AllEqual(Moments(OrderOfTrials(2, pairs, 3), 2)));
  }
  EXPECT_FALSE(AllEqual(Moments(OrderOfTrials(2, 2, 3), 2)));
}

TEST(OrderOfTrials, AnyVariantOfThreeRunsFirstWithTheSameChance) {
  std::map<std::size_t, int> first;
  for (std::uint64_t seed = 0; seed < 3'000; ++seed) ++first[OrderOfTrials(3, 1, seed)[0].variant];
  for (const auto& [variant, count] : first) EXPECT_NEAR(count, 1'000, 130) << variant;
}

TEST(Rerun, KeepsTheOrderOfThePair) {
  const std::vector<Slot> order = OrderOfTrials(3, 4, 5);
  const std::vector<Slot> again = Rerun(order, 2, 12);
  ASSERT_EQ(again.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(again[i], (Slot{2, 12 + i, order[6 + i].variant}));
  }
}

}  // namespace
}  // namespace culprit::experiment
