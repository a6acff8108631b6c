#include "lab/gate.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

#include "lab/fake_lab.h"

namespace culprit::lab {
namespace {

using base::ErrorCode;
using base::Tokens;
using gate::Outcome;
using testing::HasSubstr;

// Two variants of a server that tells the probabilities of 64 tokens.
class GateTest : public FakeLab {
 protected:
  void SetUp() override {
    FakeLab::SetUp();
    for (auto* variant : {&a(), &b()}) Set(*variant, "FAKE_VOCABULARY", "64");
    spec_.gate.prompts = {Tokens(20)};
    spec_.gate.positions = Tokens(12);
  }

  base::Result<gate::GateRun> Run(const char* level = "default") {
    gpu::ScriptedDevice device(Idle);
    Bench bench = BenchWith(device);
    spec_.gate.level = level;
    auto run = RunGate(spec_, folder_.path(), bench,
                       [this](std::string_view text) { told_.emplace_back(text); });
    ExpectNoServerIsLeft();
    for (const auto& file : std::filesystem::directory_iterator(folder_.path())) {
      EXPECT_NE(file.path().extension(), ".positions");
    }
    return run;
  }
  gate::GateResult ResultOf(const char* level = "default") {
    const auto run = Run(level);
    if (!run) {
      ADD_FAILURE() << run.error().Text();
      return {};
    }
    return gate::JudgeRun(*run).at(0).result();
  }
  gate::GateResult WithFault(const char* fault) {
    Set(b(), "FAKE_FAULT", fault);
    // The text is a prompt of 20 tokens; from the fifth position on.
    Set(b(), "FAKE_FAULT_FROM", "24");
    return ResultOf();
  }

  std::vector<std::string> told_;
};

TEST_F(GateTest, TheSameServerIsIdentical) {
  const auto run = Run("strict");
  ASSERT_TRUE(run) << run.error().Text();
  EXPECT_EQ(run->baseline, "a");
  ASSERT_EQ(run->probes.size(), 1u);
  const gate::Probe& probe = run->probes[0];
  EXPECT_EQ(probe.prompt, 20u);
  EXPECT_EQ(probe.positions, 12u);
  EXPECT_FALSE(probe.ubatch);
  EXPECT_EQ(probe.baseline_itself.size(), 12u);
  ASSERT_EQ(probe.candidates.size(), 1u);
  EXPECT_EQ(probe.candidates[0].label, "b");
  EXPECT_EQ(probe.candidates[0].positions.size(), 12u);
  EXPECT_EQ(probe.candidates[0].itself.size(), 12u);
  EXPECT_TRUE(probe.candidates[0].cache);
  EXPECT_EQ(gate::JudgeRun(*run).at(0).result().outcome, Outcome::kIdentical);
  EXPECT_EQ(servers_.size(), 2u);
  EXPECT_EQ(told_, (std::vector<std::string>{
                       "gate: a: a prompt of 20 tokens, and 12 tokens behind it, twice",
                       "gate: b: a prompt of 20 tokens, and 12 tokens behind it, twice"}));
}

// Each starts with the whole prompt evaluated anew: the last digits depend on it.
TEST_F(GateTest, EachPassAsksTheSameRequests) {
  Set(a(), "FAKE_REQUESTS", folder_.path() + "/a.jsonl");
  Set(b(), "FAKE_REQUESTS", folder_.path() + "/b.jsonl");
  ASSERT_TRUE(Run());
  const auto asked = Lines("a.jsonl");
  EXPECT_EQ(asked, Lines("b.jsonl"));
  // The last one once more, without the prefix cache.
  ASSERT_EQ(asked.size(), 1u + 2 * 12 + 1);
  EXPECT_EQ(asked.back().at("body").at("cache_prompt"), false);
  EXPECT_EQ(asked.back().at("body").at("prompt").size(), 20 + 11);
  for (std::size_t i = 1; i + 1 < asked.size(); ++i) {
    const base::Json& body = asked[i].at("body");
    EXPECT_EQ(body.at("cache_prompt"), (i - 1) % 12 != 0);
    EXPECT_EQ(body.at("n_probs"), 64);
    EXPECT_EQ(body.at("prompt").size(), 20 + (i - 1) % 12);
  }
}

// All of a large vocabulary takes a server long to write; whether it repeats itself shows in less.
TEST_F(GateTest, ALargeVocabularyIsWrittenOnce) {
  for (auto* variant : {&a(), &b()}) Set(*variant, "FAKE_VOCABULARY", "1200");
  Set(b(), "FAKE_REQUESTS", folder_.path() + "/b.jsonl");
  spec_.gate.positions = Tokens(3);
  const auto run = Run();
  ASSERT_TRUE(run) << run.error().Text();
  std::vector<int> asked;
  for (const auto& line : Lines("b.jsonl")) asked.push_back(line.at("body").value("n_probs", 0));
  EXPECT_EQ(asked, (std::vector<int>{0, 1200, 1200, 1200, 1000, 1000, 1000, 1200}));
  const auto& candidate = run->probes[0].candidates[0];
  ASSERT_EQ(candidate.itself.size(), 3u);
  for (const gate::Position& position : candidate.itself) {
    EXPECT_TRUE(position.identical);
    EXPECT_EQ(position.total_variation, 0);
  }
  EXPECT_EQ(gate::JudgeRun(*run)[0].result().outcome, Outcome::kIdentical);
  // And noise is seen all the same.
  Set(b(), "FAKE_SELF_NOISE", "0.01");
  const auto noisy = Run();
  ASSERT_TRUE(noisy) << noisy.error().Text();
  EXPECT_FALSE(noisy->probes[0].candidates[0].itself[0].identical);
}

TEST_F(GateTest, NoiseIsGradedByItsSize) {
  Set(b(), "FAKE_LOGIT_NOISE", "0.01");
  EXPECT_EQ(ResultOf().outcome, Outcome::kEquivalent);
  b().environment.back().value = "2";
  const auto result = ResultOf();
  EXPECT_EQ(result.outcome, Outcome::kDiverged);
  EXPECT_TRUE(result.at);
}

TEST_F(GateTest, AShortlistDiverges) {
  Set(b(), "FAKE_SHORTLIST", "6");
  const auto result = ResultOf();
  EXPECT_EQ(result.outcome, Outcome::kDiverged);
  EXPECT_GT(result.summary.Worst(gate::Metric::kOmitted), 0.01);
  EXPECT_TRUE(std::any_of(
      result.breaches.begin(), result.breaches.end(),
      [](const gate::Breach& breach) { return breach.bound.metric == gate::Metric::kOmitted; }));
}

// Where both run freely they part at the first position whose likeliest token is another.
TEST_F(GateTest, AForkIsWeighedByBothSides) {
  Set(b(), "FAKE_LOGIT_NOISE", "2");
  const auto run = Run();
  ASSERT_TRUE(run) << run.error().Text();
  const auto result = gate::JudgeRun(*run).at(0).result();
  const auto& positions = run->probes[0].candidates[0].positions;
  ASSERT_TRUE(result.fork);
  const auto first =
      std::find_if(positions.begin(), positions.end(),
                   [](const gate::Position& position) { return !position.top_agrees; });
  EXPECT_EQ(result.fork->at, static_cast<std::size_t>(first - positions.begin()));
  ASSERT_TRUE(result.fork->gap);
  EXPECT_NEAR(*result.fork->gap, first->flip_gap, 1e-12);
}

TEST_F(GateTest, AVariantThatDoesNotRepeatItselfIsNoMeasure) {
  Set(b(), "FAKE_SELF_NOISE", "2");
  const auto result = ResultOf();
  EXPECT_EQ(result.outcome, Outcome::kNotComparable);
  EXPECT_THAT(result.text, HasSubstr("the candidate does not give the same answer twice"));
}

TEST_F(GateTest, NaNIsBroken) {
  const auto result = WithFault("nan-logits");
  EXPECT_EQ(result.outcome, Outcome::kBroken);
  EXPECT_EQ(result.at, 4u);
  EXPECT_THAT(result.text, HasSubstr("at token 5 the log-probability of token"));
}

TEST_F(GateTest, ShiftedTokensAreBroken) {
  const auto result = WithFault("shifted-ids");
  EXPECT_EQ(result.outcome, Outcome::kBroken);
  EXPECT_EQ(result.text, "at token 5 token 64 is not in the vocabulary");
}

TEST_F(GateTest, ProbabilitiesThatAddUpToLessAreBroken) {
  EXPECT_EQ(WithFault("sum-0.9").text, "at token 5 its probabilities add up to 0.90000");
}

TEST_F(GateTest, AnErrorInAnAnswerOfStatus200IsBroken) {
  const auto result = WithFault("ok-error");
  EXPECT_EQ(result.outcome, Outcome::kBroken);
  EXPECT_EQ(result.text, "at token 5 llama-server says: Compute error.");
}

TEST_F(GateTest, AnAnswerThatEndsEarlyIsBroken) {
  const auto result = WithFault("stop-early");
  EXPECT_EQ(result.outcome, Outcome::kBroken);
  EXPECT_THAT(result.text, HasSubstr("it ended its answer after 6 tokens"));
}

TEST_F(GateTest, ATruncatedDistributionIsNotTakenForTheWhole) {
  const auto result = WithFault("few-probs");
  EXPECT_GT(result.summary.Worst(gate::Metric::kUnseen), 0);
  EXPECT_NE(result.outcome, Outcome::kIdentical);
}

TEST_F(GateTest, AnAnswerWithoutProbabilitiesIsBroken) {
  Set(b(), "FAKE_FAULT", "no-probs");
  EXPECT_THAT(ResultOf().text, HasSubstr("answered without log-probabilities"));
}

TEST_F(GateTest, AnotherModelIsNotComparable) {
  Set(b(), "FAKE_MODEL_SIZE", "999");
  const auto result = ResultOf();
  EXPECT_EQ(result.outcome, Outcome::kNotComparable);
  EXPECT_EQ(result.text,
            "it is another model, with 999 parameters where the baseline's has 12,481,024");
  Set(b(), "FAKE_VOCABULARY", "65");
  EXPECT_THAT(ResultOf().text, HasSubstr("65 tokens in its vocabulary"));
}

TEST_F(GateTest, ABaselineThatIsBrokenIsAnError) {
  Set(a(), "FAKE_FAULT", "sum-0.9");
  const auto run = Run();
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, ErrorCode::kServer);
  EXPECT_THAT(run.error().Text(), HasSubstr("a: at token 1 its probabilities add up to 0.90000"));
}

TEST_F(GateTest, ACandidateThatDoesNotStartIsBroken) {
  Set(b(), "FAKE_FAULT", "die-loading");
  const auto result = ResultOf();
  EXPECT_EQ(result.outcome, Outcome::kBroken);
  EXPECT_FALSE(result.at);
  EXPECT_THAT(result.text, HasSubstr("left before it was healthy"));
}

TEST_F(GateTest, ABaselineThatDoesNotStartIsAnError) {
  Set(a(), "FAKE_FAULT", "die-loading");
  const auto run = Run();
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, ErrorCode::kServer);
  EXPECT_THAT(run.error().Text(), HasSubstr("a: "));
}

// One start of each for the prompts, and one of each for each size of ubatches.
TEST_F(GateTest, LooksAtSeveralPromptsAndUbatches) {
  spec_.gate.prompts = {Tokens(40), Tokens(20), Tokens(40)};
  spec_.gate.ubatches = {16};
  Set(a(), "FAKE_RECORD", folder_.path() + "/starts.jsonl");
  const auto run = Run();
  ASSERT_TRUE(run) << run.error().Text();
  std::vector<std::pair<std::size_t, std::optional<std::int64_t>>> probes;
  for (const gate::Probe& probe : run->probes) probes.emplace_back(probe.prompt, probe.ubatch);
  EXPECT_THAT(probes, testing::ElementsAre(testing::Pair(20u, std::nullopt),
                                           testing::Pair(40u, std::nullopt),
                                           testing::Pair(20u, std::optional(16)),
                                           testing::Pair(40u, std::optional(16))));
  EXPECT_EQ(servers_.size(), 4u);
  const auto starts = Lines("starts.jsonl");
  ASSERT_EQ(starts.size(), 2u);
  const auto uses = [&](std::size_t start) {
    const auto words = starts[start].at("argv").get<std::vector<std::string>>();
    return std::find(words.begin(), words.end(), "-ub") != words.end();
  };
  EXPECT_FALSE(uses(0));
  EXPECT_TRUE(uses(1));
  for (const char* log : {"a.log", "b.log", "a@ub16.log", "b@ub16.log"}) {
    EXPECT_TRUE(std::filesystem::exists(folder_.path() + "/" + log)) << log;
  }
}

// What is wrong only behind the longer prompt decides.
TEST_F(GateTest, TheWorstProbeIsTheVerdict) {
  spec_.gate.prompts = {Tokens(20), Tokens(60)};
  Set(b(), "FAKE_FAULT", "sum-0.9");
  Set(b(), "FAKE_FAULT_FROM", "60");
  const auto run = Run();
  ASSERT_TRUE(run) << run.error().Text();
  const auto verdict = gate::JudgeRun(*run).at(0);
  EXPECT_EQ(verdict.results.at(0).outcome, Outcome::kIdentical);
  EXPECT_EQ(verdict.results.at(1).outcome, Outcome::kBroken);
  EXPECT_EQ(verdict.worst, 1u);
}

TEST_F(GateTest, AServerThatDiedIsNotAskedAgain) {
  spec_.gate.prompts = {Tokens(20), Tokens(40)};
  Set(b(), "FAKE_FAULT", "die-position");
  Set(b(), "FAKE_FAULT_FROM", "24");
  const auto run = Run();
  ASSERT_TRUE(run) << run.error().Text();
  for (const gate::Probe& probe : run->probes) {
    ASSERT_TRUE(probe.candidates[0].flaw);
    EXPECT_THAT(probe.candidates[0].flaw->text, HasSubstr("left during a request"));
  }
}

// The other's cached tokens are those of another text: right without the cache, wrong with it.
TEST_F(GateTest, APrefixCacheThatChangesTheAnswerIsFound) {
  Set(b(), "FAKE_FAULT", "stale-cache");
  const auto result = ResultOf();
  EXPECT_FALSE(result.passed());
  ASSERT_TRUE(result.cache);
  EXPECT_THAT(Explain(result, "a", "b"),
              testing::Contains(HasSubstr("With its prefix cache b answers otherwise")));
  // Where both do it nothing else would tell.
  Set(a(), "FAKE_FAULT", "stale-cache");
  const auto run = Run();
  ASSERT_TRUE(run) << run.error().Text();
  EXPECT_EQ(gate::JudgeRun(*run).at(0).result().outcome, Outcome::kIdentical);
  EXPECT_GT(run->probes[0].baseline_cache->total_variation, 0.1);
}

TEST_F(GateTest, OtherSpecialTokensAreFound) {
  Set(b(), "FAKE_END_OF_TURN", "<|end|>");
  const auto result = ResultOf();
  EXPECT_EQ(result.outcome, Outcome::kDiverged);
  EXPECT_FALSE(result.at);
  EXPECT_THAT(result.other_chat, HasSubstr("to the baseline and"));
  EXPECT_THAT(Explain(result, "a", "b"),
              testing::Contains(HasSubstr("The two read a conversation otherwise: its token")));
}

TEST_F(GateTest, ATokenThatIsNoneIsFoundInWhatRunsFreely) {
  Set(b(), "FAKE_FAULT", "strange-tokens");
  const auto result = ResultOf();
  EXPECT_EQ(result.outcome, Outcome::kBroken);
  EXPECT_THAT(result.text, HasSubstr("it generated token 1064, which is not in the vocabulary"));
}

TEST_F(GateTest, AnotherTokenizerIsNotComparable) {
  Set(b(), "FAKE_FAULT", "few-tokens");
  const auto result = ResultOf();
  EXPECT_EQ(result.outcome, Outcome::kNotComparable);
  EXPECT_EQ(result.text, "its tokenizer makes other tokens of the same text");
}

TEST_F(GateTest, ACandidateThatGoesInCirclesIsFound) {
  spec_.gate.positions = Tokens(64);
  Set(b(), "FAKE_FAULT", "loops");
  const auto result = ResultOf();
  EXPECT_EQ(result.outcome, Outcome::kDiverged);
  ASSERT_TRUE(result.loop);
  EXPECT_EQ(result.loop->period, 2u);
  EXPECT_THAT(Explain(result, "a", "b"), testing::Contains(HasSubstr("goes in circles")));
}

TEST_F(GateTest, WhatIsSaidToBeApproximateMayDivergeAndNotBreak) {
  Set(b(), "FAKE_LOGIT_NOISE", "2");
  b().approximate = true;
  auto run = Run();
  ASSERT_TRUE(run) << run.error().Text();
  EXPECT_EQ(run->approximate, std::vector<std::string>{"b"});
  auto verdicts = gate::JudgeRun(*run);
  EXPECT_EQ(verdicts[0].result().outcome, Outcome::kDiverged);
  EXPECT_TRUE(verdicts[0].passed());
  EXPECT_EQ(Decide(verdicts), gate::Decision::kPassed);
  Set(b(), "FAKE_FAULT", "sum-0.9");
  run = Run();
  ASSERT_TRUE(run) << run.error().Text();
  EXPECT_EQ(Decide(gate::JudgeRun(*run)), gate::Decision::kFailed);
}

TEST_F(GateTest, ALevelThatIsNoneIsRefused) {
  const auto run = Run("loose");
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, ErrorCode::kUsage);
}

TEST_F(GateTest, APromptLongerThanTheProseIsRefused) {
  spec_.gate.prompts = {Tokens(100'000'000)};
  const auto run = Run();
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, ErrorCode::kUsage);
}

TEST_F(GateTest, AnInterruptLeavesNothingBehind) {
  stop_.Request();
  const auto run = Run();
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, ErrorCode::kInterrupted);
}

}  // namespace
}  // namespace culprit::lab
