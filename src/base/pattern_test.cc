#include "base/pattern.h"

#include <gtest/gtest.h>

namespace culprit::base {
namespace {

std::string Many(int count, std::string_view text) {
  std::string many;
  for (int i = 0; i < count; ++i) many += text;
  return many;
}

std::string ErrorOf(const std::string& text) {
  const auto pattern = Pattern::Compile(text);
  return pattern ? "" : pattern.error().message;
}

TEST(Pattern, IsFoundAnywhereInAText) {
  const auto pattern = Pattern::Compile("offloaded (\\d+)/\\1?\\d*");
  EXPECT_FALSE(pattern) << "a reference back cannot be matched in linear time";
  const auto layers = Pattern::Compile("offloaded \\d+/33 layers");
  ASSERT_TRUE(layers);
  EXPECT_TRUE(layers->IsIn("load_tensors: offloaded 33/33 layers to GPU"));
  EXPECT_FALSE(layers->IsIn("load_tensors: offloaded 33/49 layers to GPU"));
  EXPECT_FALSE(layers->IsIn(""));
}

TEST(Pattern, IsFoundBetweenBytesThatAreNoText) {
  const auto pattern = Pattern::Compile("cuda");
  ASSERT_TRUE(pattern);
  EXPECT_TRUE(pattern->IsIn(std::string_view("\xff\0\x80 cuda \xc0", 9)));
}

// A backtracking matcher tries 2^2,000 ways.
TEST(Pattern, TakesTimeInProportionToTheText) {
  const auto pattern = Pattern::Compile("(\\w+\\s*)+cuda!");
  ASSERT_TRUE(pattern);
  EXPECT_FALSE(pattern->IsIn(Many(2000, "ab ") + "cuda?"));
  EXPECT_TRUE(pattern->IsIn(Many(2000, "ab ") + "cuda!"));
}

TEST(Pattern, ThatIsNoneIsRefusedWithTheReason) {
  EXPECT_EQ(ErrorOf("(ab"), "\"(ab\" is no regular expression: missing ): (ab");
  EXPECT_EQ(ErrorOf("a(?=b)"), "\"a(?=b)\" is no regular expression: invalid perl operator: (?=");
  EXPECT_EQ(ErrorOf("\xff"), "\"\xEF\xBF\xBD\" is no regular expression: invalid UTF-8");
}

TEST(Pattern, MayNestDeeply) {
  const auto pattern = Pattern::Compile(Many(4999, "(") + "a" + Many(4999, ")"));
  ASSERT_TRUE(pattern);
  EXPECT_TRUE(pattern->IsIn("cuda"));
}

TEST(Pattern, ThatGrowsWithoutBoundIsRefused) {
  EXPECT_NE(ErrorOf("(((a{100}){100}){100})"), "");
  EXPECT_NE(ErrorOf(Many(50, "\\pL{1000}")), "");
  EXPECT_EQ(ErrorOf(Many(20'000, "(") + Many(20'000, ")")),
            "a regular expression of 40000 bytes: 10000 are the most");
}

}  // namespace
}  // namespace culprit::base
