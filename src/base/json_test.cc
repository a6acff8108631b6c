#include "base/json.h"

#include <gtest/gtest.h>

namespace culprit::base {
namespace {

std::string Nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(ParseJson, RefusesWhatNestsTooDeeply) {
  EXPECT_TRUE(ParseJson(Nested(100)));
  const auto deep = ParseJson(Nested(101));
  ASSERT_FALSE(deep);
  EXPECT_EQ(deep.error().Text(), "JSON that nests too deeply");
}

TEST(ParseJson, CountsNoBracketsInTexts) {
  const std::string brackets(1000, '[');
  const auto json = ParseJson(R"(["\"\\)" + brackets + R"(", {"a": ")" + brackets + R"("}])");
  ASSERT_TRUE(json) << json.error().Text();
  EXPECT_EQ(json->at(0).get<std::string>(), "\"\\" + brackets);
}

TEST(ParseJson, CountsSiblingsOnce) {
  std::string text = "[0";
  for (int i = 0; i < 1000; ++i) text += ",[{}]";
  EXPECT_TRUE(ParseJson(text + "]"));
}

}  // namespace
}  // namespace culprit::base
