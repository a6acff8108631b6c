#include "base/toml_depth.h"

#include <gtest/gtest.h>

#include <string>

#include "base/toml.h"

namespace culprit::base {
namespace {

std::string Many(int count, std::string_view text) {
  std::string many;
  for (int i = 0; i < count; ++i) many += text;
  return many;
}

using Line = std::optional<std::size_t>;

TEST(LineDeeperThan, CountsBracketsAndTheDotsOfKeys) {
  EXPECT_EQ(LineDeeperThan(2, "a.b.c = 1"), std::nullopt);
  EXPECT_EQ(LineDeeperThan(1, "a.b.c = 1"), Line(1));
  EXPECT_EQ(LineDeeperThan(1, "x = 1\n\n'a' . \"b\" . c = 1"), Line(3));
  EXPECT_EQ(LineDeeperThan(2, "a = [[], []]"), std::nullopt);
  EXPECT_EQ(LineDeeperThan(2, "a = [[],\n[[]]]"), Line(2));
  EXPECT_EQ(LineDeeperThan(4, "a.b = {c.d = {e = 1}, f = [1.5, 2.5]}"), std::nullopt);
  EXPECT_EQ(LineDeeperThan(3, "a.b = {c.d = {e = 1}}"), Line(1));
  EXPECT_EQ(LineDeeperThan(3, "[a.b.c]\nd.e.f = 1.5\n"), std::nullopt);
}

TEST(LineDeeperThan, PassesOverStringsAndComments) {
  EXPECT_EQ(LineDeeperThan(1, "a = '[.{.[' # [[.[\nb = \"[\\\"[[.\""), std::nullopt);
  EXPECT_EQ(LineDeeperThan(1, "a = \"\"\"\n[[[\\\"\"\"[[ \"\" \"\"\""), std::nullopt);
  EXPECT_EQ(LineDeeperThan(1, "a = '''\n[[[''[[\n'''\n"), std::nullopt);
}

TEST(LineDeeperThan, IsNotHidFromByQuotes) {
  EXPECT_EQ(LineDeeperThan(1, "a = ['''x'''', [[]]]"), Line(1));
  EXPECT_EQ(LineDeeperThan(1, "a = [\"\"\"\n\"\"\"\"\", [[]]]"), Line(2));
  EXPECT_EQ(LineDeeperThan(1, "a = ['', [[]]]"), Line(1));
  EXPECT_EQ(LineDeeperThan(1, "a = ['\\', [[]]]"), Line(1)) << "no escapes in such a string";
}

TEST(ParseToml, RefusesWhatNestsTooDeeply) {
  const std::string path = "a" + Many(520'000, ".a");
  for (const std::string& text :
       {path + " = 1", "[" + path + "]", "[[" + path + "]]", "x = {" + path + " = 1}",
        "x = " + Many(100'000, "["), "x = " + Many(100'000, "{a="),
        Many(50, "x" + Many(50, ".x") + " = {")}) {
    const auto parsed = ParseToml("\n" + text, "e.toml", "write TOML");
    ASSERT_FALSE(parsed);
    EXPECT_EQ(parsed.error().Text(), "e.toml:2: nests too deeply; write TOML");
  }
}

}  // namespace
}  // namespace culprit::base
