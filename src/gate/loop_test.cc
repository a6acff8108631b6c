#include "gate/loop.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace culprit::gate {
namespace {

// A text of other tokens, then rounds of a circle.
std::vector<TokenId> Circling(std::size_t others, std::vector<TokenId> round, std::size_t tokens) {
  std::vector<TokenId> text(others);
  std::iota(text.begin(), text.end(), 1000);
  for (std::size_t i = 0; i < tokens; ++i) text.push_back(round[i % round.size()]);
  return text;
}

TEST(Loop, RunsToTheEnd) {
  const auto loop = FindLoop(Circling(20, {7, 8, 9}, 61));
  ASSERT_TRUE(loop);
  EXPECT_EQ(loop->period, 3u);
  EXPECT_EQ(loop->times, 20u);
  EXPECT_EQ(loop->from, 20u);
  auto escaped = Circling(20, {7, 8, 9}, 61);
  escaped.push_back(1);
  EXPECT_FALSE(FindLoop(escaped));
}

TEST(Loop, OfOneTokenIsTheShortest) {
  const auto loop = FindLoop(Circling(0, {5}, 64));
  ASSERT_TRUE(loop);
  EXPECT_EQ(loop->period, 1u);
  EXPECT_EQ(loop->times, 64u);
  EXPECT_EQ(loop->from, 0u);
}

TEST(Loop, ARefrainIsNone) {
  EXPECT_FALSE(FindLoop(Circling(100, {7, 8, 9}, 47)));
  std::vector<TokenId> verse(20);
  std::iota(verse.begin(), verse.end(), 1);
  EXPECT_FALSE(FindLoop(Circling(100, verse, 79)));
  EXPECT_TRUE(FindLoop(Circling(100, verse, 80)));
  EXPECT_FALSE(FindLoop({}));
  EXPECT_TRUE(FindLoop(Circling(100, {7, 8, 9}, 47), kExcusingTokens));
}

}  // namespace
}  // namespace culprit::gate
