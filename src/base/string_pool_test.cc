#include "base/string_pool.h"

#include <gtest/gtest.h>

#include <vector>

namespace culprit::base {
namespace {

using std::string_literals::operator""s;

TEST(StringPool, NamesEachDistinctStringOnce) {
  StringPool pool;
  const StringId rope = pool.Intern("rope");
  EXPECT_EQ(pool.Intern("rope"s), rope);
  EXPECT_NE(pool.Intern("rope\0"s), rope);
  EXPECT_EQ(pool.Get(rope), "rope");
  EXPECT_EQ(pool.size(), 3u);
}

TEST(StringPool, HoldsTheEmptyStringAsItsFirst) {
  StringPool pool;
  EXPECT_EQ(pool.Get(StringId()), "");
  EXPECT_EQ(pool.Intern(""), StringId());
  EXPECT_EQ(pool.size(), 1u);
}

TEST(StringPool, KeepsViewsValidWhenItGrowsAndWhenItMoves) {
  StringPool pool;
  std::vector<std::string_view> views;
  // Short strings lie inside the string object: the harder case.
  for (int i = 0; i < 5'000; ++i) views.push_back(pool.Get(pool.Intern(std::to_string(i))));
  StringPool moved = std::move(pool);
  StringPool assigned;
  assigned.Intern("something else");
  assigned = std::move(moved);
  for (int i = 0; i < 5'000; ++i) {
    const std::string text = std::to_string(i);
    const auto at = static_cast<std::size_t>(i);
    ASSERT_EQ(views[at], text);
    ASSERT_EQ(assigned.Get(assigned.Intern(text)).data(), views[at].data());
  }
  EXPECT_EQ(assigned.size(), 5'001u);
}

}  // namespace
}  // namespace culprit::base
