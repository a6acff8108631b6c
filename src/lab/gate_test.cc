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
  }

  base::Result<gate::GateRun> Run(const char* level = "default") {
    gpu::ScriptedDevice device(Idle);
    Bench bench = BenchWith(device);
    wish_.level = gate::ParseLevel(level).value();
    auto run = RunGate(spec_, wish_, folder_.path(), bench,
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
    return run->verdicts.at(0).result;
  }
  gate::GateResult WithFault(const char* fault) {
    Set(b(), "FAKE_FAULT", fault);
    // The text is a prompt of 20 tokens; from the fifth position on.
    Set(b(), "FAKE_FAULT_FROM", "24");
    return ResultOf();
  }

  GateWish wish_{.prompt = Tokens(20), .positions = Tokens(12)};
  std::vector<std::string> told_;
};

TEST_F(GateTest, TheSameServerIsIdentical) {
  const auto run = Run("strict");
  ASSERT_TRUE(run) << run.error().Text();
  EXPECT_EQ(run->baseline, "a");
  EXPECT_EQ(run->prompt, 20u);
  EXPECT_EQ(run->positions, 12u);
  ASSERT_EQ(run->verdicts.size(), 1u);
  const auto& verdict = run->verdicts[0];
  EXPECT_EQ(verdict.label, "b");
  EXPECT_EQ(verdict.result.outcome, Outcome::kIdentical);
  EXPECT_EQ(verdict.positions.size(), 12u);
  EXPECT_EQ(verdict.itself->identical, 12u);
  EXPECT_EQ(run->baseline_itself->identical, 12u);
  EXPECT_EQ(servers_.size(), 2u);
  EXPECT_EQ(told_,
            (std::vector<std::string>{"a: a prompt of 20 tokens, and 12 tokens behind it, twice",
                                      "b: a prompt of 20 tokens, and 12 tokens behind it, twice"}));
}

// Each starts with the whole prompt evaluated anew: the last digits depend on it.
TEST_F(GateTest, EachPassAsksTheSameRequests) {
  Set(a(), "FAKE_REQUESTS", folder_.path() + "/a.jsonl");
  Set(b(), "FAKE_REQUESTS", folder_.path() + "/b.jsonl");
  ASSERT_TRUE(Run());
  const auto asked = Lines("a.jsonl");
  EXPECT_EQ(asked, Lines("b.jsonl"));
  ASSERT_EQ(asked.size(), 1u + 2 * 12);
  for (std::size_t i = 1; i < asked.size(); ++i) {
    const base::Json& body = asked[i].at("body");
    EXPECT_EQ(body.at("cache_prompt"), (i - 1) % 12 != 0);
    EXPECT_EQ(body.at("n_probs"), 64);
    EXPECT_EQ(body.at("prompt").size(), 20 + (i - 1) % 12);
  }
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
  const auto& [label, result, positions, itself] = run->verdicts[0];
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

TEST_F(GateTest, ACandidateThatDoesNotStartIsAnError) {
  Set(b(), "FAKE_FAULT", "die-loading");
  const auto run = Run();
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().code, ErrorCode::kServer);
  EXPECT_THAT(run.error().Text(), HasSubstr("b: "));
}

TEST_F(GateTest, APromptLongerThanTheProseIsRefused) {
  wish_.prompt = Tokens(100'000'000);
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
