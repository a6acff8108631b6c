#include "analysis/rules.h"

#include <gtest/gtest.h>

#include <string>

namespace culprit::analysis {
namespace {

std::string ErrorOf(std::string_view text) {
  const auto set = ParseRules("mine.toml", text);
  return set ? "no error" : set.error().Text();
}

Rule OneRule(const std::string& conditions) {
  const auto set =
      ParseRules("mine.toml", "[[rule]]\ncategory = \"x\"\nwhy = \"y\"\n" + conditions);
  EXPECT_TRUE(set.has_value()) << set.error().Text();
  return set ? set->rules.at(0) : Rule{};
}

bool HoldsForName(const Rule& rule, std::string_view name) {
  return rule.when.HoldsFor(ParseKernelName(name), name, trace::WorkKind::kKernel);
}

Launch Grid(std::uint32_t x, std::uint32_t y = 1) { return {.geometry = {{x, y, 1}, {32, 4, 1}}}; }

TEST(Rules, ReadsEveryFieldOfARule) {
  const auto set = ParseRules("mine.toml", R"(
[[mark]]
name = "my_matvec"
is = "multiplication"

[[rule]]
name = ["my_*", "our_*"]
category = "mine"
role = "first"
why = "it is mine"
)");
  ASSERT_TRUE(set.has_value()) << set.error().Text();
  ASSERT_EQ(set->rules.size(), 1u);
  EXPECT_EQ(set->rules[0].category, "mine");
  EXPECT_EQ(set->rules[0].role, "first");
  EXPECT_EQ(set->rules[0].why, "it is mine");
  EXPECT_EQ(set->rules[0].source, "mine.toml:6");
  ASSERT_EQ(set->marks.size(), 1u);
  EXPECT_EQ(set->marks[0].sign, Sign::kMul);
}

TEST(Rules, TestsNamesTypesOperationsAndArguments) {
  EXPECT_TRUE(
      HoldsForName(OneRule("name = 'mul_mat_vec_q'"), "void mul_mat_vec_q<(ggml_type)12, 4>(int)"));
  EXPECT_TRUE(
      HoldsForName(OneRule("ggml_type = 'Q4_*'"), "void mul_mat_vec_q<(ggml_type)12, 4>(int)"));
  EXPECT_FALSE(HoldsForName(OneRule("ggml_type = '*'"), "void mul_mat_vec_f<float, 4>(int)"));
  EXPECT_TRUE(HoldsForName(OneRule("name = '*'\nargument.1 = '4'"),
                           "void mul_mat_vec_q<(ggml_type)12, 4>(int)"));
  EXPECT_FALSE(HoldsForName(OneRule("name = '*'\nargument.2 = '4'"),
                            "void mul_mat_vec_q<(ggml_type)12, 4>(int)"));
  EXPECT_TRUE(
      HoldsForName(OneRule("operation = 'op_add'"), "k_bin_bcast<&(op_add(float, float)), float>"));
  EXPECT_TRUE(HoldsForName(OneRule("full = '*(int)'"), "void f(int)"));
  EXPECT_FALSE(HoldsForName(OneRule("kind = 'copy'"), "void f(int)"));
}

TEST(Rules, ComparesGridsWithNumbersAndTheVocabulary) {
  const Rule many = OneRule("name = '*'\ngrid = {x = '>= 32768', y = 1}");
  EXPECT_TRUE(many.when.HoldsFor(Grid(151936)));
  EXPECT_FALSE(many.when.HoldsFor(Grid(151936, 8)));
  EXPECT_FALSE(many.when.HoldsFor(Grid(4096)));
  EXPECT_FALSE(many.when.HoldsFor(Launch{})) << "an unknown grid is not many blocks";

  const Rule vocab = OneRule("name = '*'\ngrid.x = ['vocab', 'vocab/2']");
  Launch launch = Grid(75969);
  EXPECT_FALSE(vocab.when.HoldsFor(launch)) << "unknown vocabulary";
  launch.vocab = 151937;
  EXPECT_TRUE(vocab.when.HoldsFor(launch)) << "half a vocabulary is rounded up";
  launch.vocab = 151936;
  EXPECT_FALSE(vocab.when.HoldsFor(launch));
}

TEST(Rules, HoldsWhileLaunchesAStepAreUnknown) {
  const Rule rule = OneRule("name = '*'\nlaunches_per_step = '< 16'");
  Launch launch = Grid(1);
  EXPECT_TRUE(rule.when.HoldsFor(launch));
  launch.per_step = 96;
  EXPECT_FALSE(rule.when.HoldsFor(launch));
}

TEST(Rules, TestsPlaceAndPass) {
  const Rule rule = OneRule("name = '*'\nplace = ['head', 'down']\npass = 'draft'");
  EXPECT_TRUE(rule.when.HoldsIn(Place::kHead, PassKind::kDraft));
  EXPECT_TRUE(rule.when.HoldsIn(Place::kExpertsOut, PassKind::kDraft));
  EXPECT_FALSE(rule.when.HoldsIn(Place::kHead, PassKind::kTarget));
  EXPECT_FALSE(rule.when.HoldsIn(Place::kHead, std::nullopt));
  EXPECT_FALSE(rule.when.HoldsIn(Place::kRouter, PassKind::kDraft));
}

TEST(Rules, SaysWhereAFileIsWrongAndWhatWasMeant) {
  EXPECT_EQ(ErrorOf("[[rule]]\nname = 'a'\ncategry = 'b'\nwhy = 'c'\n"),
            "mine.toml:3: a [[rule]] has no key \"categry\"; did you mean \"category\"?");
  EXPECT_EQ(ErrorOf("[[rule]]\nname = 'a'\ncategory = 'b'\n"),
            "mine.toml:1: this [[rule]] has no \"why\"");
  EXPECT_EQ(ErrorOf("[[rule]]\ncategory = 'b'\nwhy = 'c'\n"),
            "mine.toml:1: nothing here says which kernels are meant; give name, operation, full, "
            "ggml_type, kind or mark");
  EXPECT_EQ(ErrorOf("[[rule]]\nname = 'a'\ncategory = 'b'\nwhy = 'c'\nplace = 'haed'\n"),
            "mine.toml:5: there is no place \"haed\"; did you mean \"head\"?");
  EXPECT_EQ(ErrorOf("[[rule]]\nname = 'a'\ncategory = 'b'\nwhy = 'c'\ngrid.x = 'many'\n"),
            "mine.toml:5: this is no comparison; write 8, \">= 8\", \"vocab\" or \"vocab/2\"");
  EXPECT_EQ(ErrorOf("[[rule]]\nname = 'a'\ncategory = 'b'\nwhy = 'c'\ngrid = {w = 1}\n"),
            "mine.toml:5: \"grid\" has no axis \"w\"; x, y or z");
  EXPECT_EQ(ErrorOf("[[rule]]\nname = 3\ncategory = 'b'\nwhy = 'c'\n"),
            "mine.toml:2: \"name\" must be a text that is not empty");
  EXPECT_EQ(ErrorOf("[[mark]]\nname = 'a'\nis = 'multiplicaton'\n"),
            "mine.toml:3: there is no sign \"multiplicaton\"; did you mean \"multiplication\"?");
  EXPECT_EQ(ErrorOf("[[rules]]\nname = 'a'\n"),
            "mine.toml:1: a rules file has no \"rules\"; did you mean \"rule\"?");
  EXPECT_EQ(ErrorOf("rule = 3\n"),
            "mine.toml:1: \"rule\" is no list of tables; begin each with [[rule]]");
  EXPECT_TRUE(ErrorOf("[[rule]\n").starts_with("mine.toml:1: ")) << ErrorOf("[[rule]\n");
}

TEST(Rules, TakesHostileFiles) {
  for (const std::string& text : std::initializer_list<std::string>{
           std::string(100000, '['), "[!", "größe = 1", "a = 4é", "a = " + std::string(100000, '['),
           std::string("\0\xff\xfe", 3), "[[rule]]\nargument.99999999999999999999 = 'a'\n",
           "[[rule]]\n" + std::string(100000, 'k') + " = 1\n",
           "[[rule]]\nname = []\ncategory = 'b'\nwhy = 'c'\n",
           "[[rule]]\nname = 'a'\ncategory = 'b'\nwhy = 'c'\ngrid.x = 'vocab/0'\n"}) {
    EXPECT_FALSE(ParseRules("mine.toml", text).has_value()) << text.substr(0, 60);
  }
  EXPECT_TRUE(ParseRules("mine.toml", "").has_value());
}

TEST(Rules, PutsTheUsersInFrontOfTheShipped) {
  const auto users = ParseRules("mine.toml", "[[rule]]\nname='a'\ncategory='b'\nwhy='c'\n");
  ASSERT_TRUE(users.has_value());
  const RuleSet both = InFront(*users);
  EXPECT_EQ(both.rules.size(), ShippedRules().rules.size() + 1);
  EXPECT_EQ(both.rules[0].category, "b");
  EXPECT_EQ(both.rules[1].source, ShippedRules().rules[0].source);
}

}  // namespace
}  // namespace culprit::analysis
