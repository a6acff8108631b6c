#include "experiment/variant.h"

#include <gmock/gmock.h>

namespace culprit::experiment {
namespace {

using testing::ElementsAre;

std::vector<std::string> Labels(std::string_view text) {
  std::vector<std::string> labels;
  const auto variants = ParseVariant(text);
  for (const Variant& variant : *variants) labels.push_back(variant.label);
  return labels;
}

TEST(Variant, IsReadAsTheFirstUserWritesIt) {
  const auto variants = ParseVariant(
      "q4=/opt/llama/bin/llama-server|model=/m/a.gguf|kv=q4_0|env=A=1|env=B=x=y|env=-C"
      "|extra=-ngl 99 --alias 'a b'|cwd=/tmp|expect-log=tiled (on\\|yes)|expect-symbol=fattn_tile");
  ASSERT_TRUE(variants) << variants.error().Text();
  EXPECT_THAT(*variants,
              ElementsAre(Variant{.label = "q4",
                                  .binary = "/opt/llama/bin/llama-server",
                                  .model = "/m/a.gguf",
                                  .kv = "q4_0",
                                  .environment = {{"A", "1"}, {"B", "x=y"}, {"C", std::nullopt}},
                                  .arguments = {"-ngl", "99", "--alias", "a b"},
                                  .working_directory = "/tmp",
                                  .expect_log = {"tiled (on|yes)"},
                                  .expect_symbol = {"fattn_tile"}}));
}

TEST(Variant, KvSetsTheDraftContextOnlyWhereThereIsOne) {
  EXPECT_THAT(ParseVariant("a=b|kv=q4_0")->at(0).ServerArguments(),
              ElementsAre("-ctk", "q4_0", "-ctv", "q4_0"));
  EXPECT_THAT(ParseVariant("a=b|kv=q8_0|extra=--spec-type draft-mtp")->at(0).ServerArguments(),
              ElementsAre("-ctk", "q8_0", "-ctv", "q8_0", "-ctkd", "q8_0", "-ctvd", "q8_0",
                          "--spec-type", "draft-mtp"));
  const auto ngram = ParseVariant("a=b|kv=q8_0|extra=--spec-type=ngram-simple")->at(0);
  EXPECT_TRUE(ngram.speculates());
  EXPECT_FALSE(ngram.drafts());
  EXPECT_THAT(ngram.ServerArguments(),
              ElementsAre("-ctk", "q8_0", "-ctv", "q8_0", "--spec-type=ngram-simple"));
}

TEST(Variant, SweepBecomesAVariantForEachValue) {
  EXPECT_THAT(Labels("p=b|env=PROBES={64,128,256}"), ElementsAre("p-64", "p-128", "p-256"));
  EXPECT_THAT(Labels("p=b|kv={f16,q4_0}|extra=-x -t {1,2}"),
              ElementsAre("p-f16-1", "p-f16-2", "p-q4_0-1", "p-q4_0-2"));
  EXPECT_EQ(ParseVariant("p=b|env=PROBES={64,128}")->at(1).environment[0].value, "128");
  EXPECT_THAT(ParseVariant("p=b|extra=-t {1,2} -x")->at(1).arguments, ElementsAre("-t", "2", "-x"));
}

TEST(Variant, JsonIsNoSweep) {
  EXPECT_THAT(Labels("p=b|extra=--kwargs '{\"a\":1,\"b\":2}'"), ElementsAre("p"));
}

TEST(Variant, MayBeMeantToAnswerALittleOtherwise) {
  EXPECT_TRUE(ParseVariant("a=b|answers=approximate")->front().approximate);
  EXPECT_FALSE(ParseVariant("a=b|answers=approximate|answers=exact")->front().approximate);
}

TEST(Variant, SaysWhatIsWrongAndWhere) {
  const auto error = [](std::string_view text) { return ParseVariant(text).error().Text(); };
  EXPECT_EQ(error("server"),
            "--variant: \"server\" is no KEY=VALUE; a variant is label=BINARY, then |KEY=VALUE for "
            "model, kv, env, extra, cwd, expect-log, expect-symbol, answers");
  EXPECT_EQ(
      error("a=b|size=3"),
      "--variant a: \"size\" is no key of a variant; the keys are model, kv, env, extra, cwd, "
      "expect-log, expect-symbol, answers");
  EXPECT_EQ(error("a/b=c"),
            "--variant a/b: \"a/b\" cannot be a label; use letters, digits and -_.+, at most 64");
  EXPECT_EQ(error("a=b|answers=roughly"),
            "--variant a: answers: \"roughly\" says nothing of answers; they are exact or "
            "approximate");
  EXPECT_EQ(error("a=b|env=X"),
            "--variant a: env=X sets no variable; write env=NAME=VALUE, or env=-NAME to take a "
            "variable away");
  EXPECT_THAT(error("a=b|expect-log=("),
              testing::HasSubstr("expect-log: \"(\" is no regular expression: missing )"));
  EXPECT_EQ(error("a=b|env=A={1,2,3,4,5}|env=B={1,2,3,4,5}|env=C={1,2,3,4,5}"),
            "--variant: a sweep of over 64 variants");
}

}  // namespace
}  // namespace culprit::experiment
