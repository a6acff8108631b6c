#include "analysis/proof.h"

#include <gtest/gtest.h>

#include "analysis/synthetic_trace.h"

namespace culprit::analysis {
namespace {

using namespace synthetic;
using base::Finding;

// Prove analyses a decode of these steps and returns its proof; adjust may spoil something first.
using Adjust = std::function<void(trace::Trace&, Completion&)>;
Proof Prove(const std::vector<Works>& steps, const Adjust& adjust = nullptr) {
  Recording recording;
  Completion request = recording.Serve(Prefill(), steps);
  request.timings.reset();
  auto trace = recording.Finish();
  if (adjust) adjust(trace, request);
  const auto analysis = Analyze(trace, {.completion = request}, ShippedRules());
  EXPECT_TRUE(analysis) << analysis.error().Text();
  return analysis ? analysis->proof : Proof{};
}
std::vector<Works> Steps(std::size_t count) { return std::vector<Works>(count, Step()); }

const ProofItem& Item(const Proof& proof, std::string_view id) {
  static const ProofItem kNone{"", "no such item", false};
  for (const ProofItem& item : proof.items) {
    if (item.id == id) return item;
  }
  return kNone;
}
std::string Shapes(const Proof& proof) { return Item(proof, "dispatches_per_step").sentence; }

TEST(Proof, HoldsForAConstantDecode) {
  const Proof proof = Prove(Steps(40));
  std::string text;
  for (const ProofItem& item : proof.items) {
    text += item.id + (item.holds ? " holds: " : " FAILS: ") + item.sentence + "\n";
  }
  EXPECT_EQ(text,
            "conservation holds: Σ exclusive + idle = window: 156,000,000 + 4,000,000 = "
            "160,000,000 ns\n"
            "steps holds: 40 steps seen, each ending in mul_mat_vec_q over 151,936 blocks; "
            "the tokens imply 40\n"
            "dispatches_per_step holds: 29 dispatches in each of 40 steps\n"
            "records holds: no record is missing or damaged\n");
  EXPECT_TRUE(proof.complete());
  EXPECT_EQ(proof.reason(), "");
}

TEST(Proof, AllowsASecondRegularShape) {
  // From some context length on, attention takes a kernel more.
  auto steps = Steps(40);
  for (std::size_t i = 25; i < steps.size(); ++i) {
    steps[i].insert(steps[i].begin() + 7,
                    {"void flash_attn_combine_results<128>(float const*)", 5us});
  }
  const Proof proof = Prove(steps);
  EXPECT_TRUE(proof.complete()) << proof.reason();
  EXPECT_EQ(Shapes(proof), "29 (25×) or 30 (15×) dispatches in 40 steps");
}

TEST(Proof, NamesWhatOneStepLaunchesMore) {
  auto steps = Steps(40);
  steps[17].insert(steps[17].begin(), {"void cpy_f32_f16<1>(char const*)", 5us, {}, 3});
  const Proof proof = Prove(steps);
  EXPECT_TRUE(proof.complete()) << proof.reason();
  EXPECT_EQ(Shapes(proof),
            "29 dispatches in each of 39 steps; 1 launch more, the first of them cpy_f32_f16");
}

TEST(Proof, FailsWhenAStepIsShorter) {
  auto steps = Steps(40);
  steps[17].erase(steps[17].begin() + 4);
  const Proof proof = Prove(steps);
  EXPECT_FALSE(proof.complete());
  EXPECT_EQ(proof.reason(),
            "29 dispatches in each of 39 steps; 1 launch fewer: records are missing");
}

TEST(Proof, ExemptsTheFirstPassThatTheWindowMayHaveCut) {
  auto steps = Steps(40);
  steps[0].erase(steps[0].begin() + 4);
  const Proof proof = Prove(steps);
  EXPECT_TRUE(proof.complete()) << proof.reason();
  EXPECT_EQ(Shapes(proof), "29 dispatches in each of 39 steps; the window begins inside the first");
}

TEST(Proof, FailsWhenNoTwoStepsLaunchTheSame) {
  auto steps = Steps(46);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    steps[i].front().times = 1 + static_cast<int>(i);
  }
  const Proof proof = Prove(steps);
  EXPECT_EQ(Shapes(proof), "no two of 45 steps launch the same");
  EXPECT_FALSE(proof.complete());
}

TEST(Proof, FailsWhenRecordsWereLost) {
  for (const Finding lost :
       {Finding::kTornTail, Finding::kTruncatedFile, Finding::kHotJournal,
        Finding::kMissingDispatchIds, Finding::kZeroStamps, Finding::kMalformedRow,
        Finding::kGraphWithoutNodes, Finding::kQuickCheckFailed}) {
    const Proof proof = Prove(
        Steps(8), [&](trace::Trace& trace, Completion&) { trace.diagnostics.Add(lost, 1234); });
    EXPECT_FALSE(proof.complete());
    EXPECT_EQ(proof.reason(), std::string(base::Describe(lost).what) + " (1,234)");
  }
}

TEST(Proof, AllowsWhatTheReaderRepaired) {
  for (const Finding repaired : {Finding::kEndBeforeStart, Finding::kDuplicateDispatches,
                                 Finding::kOutOfOrder, Finding::kSameLaneOverlap}) {
    const Proof proof =
        Prove(Steps(8), [&](trace::Trace& trace, Completion&) { trace.diagnostics.Add(repaired); });
    EXPECT_TRUE(proof.complete()) << proof.reason();
  }
}

TEST(Proof, FailsWhenTheTokensImplyOtherSteps) {
  const Proof proof =
      Prove(Steps(40), [](trace::Trace&, Completion& request) { request.generated = Tokens(43); });
  EXPECT_FALSE(proof.complete());
  EXPECT_EQ(proof.reason(),
            "40 steps seen, each ending in mul_mat_vec_q over 151,936 blocks; the tokens "
            "imply 42");
}

TEST(Proof, FailsWhenNothingSaysHowManyTokens) {
  const Proof proof =
      Prove(Steps(40), [](trace::Trace&, Completion& request) { request.generated = Tokens(0); });
  EXPECT_EQ(proof.reason(), "40 steps seen; nothing says how many tokens they made");
}

TEST(Proof, FailsWhenNoStepsCanBeSeen) {
  const Proof proof = Prove({{{"a", 10us}}, {{"b", 10us}}});
  EXPECT_EQ(proof.reason(), "no decode steps can be seen in the trace");
}

TEST(Proof, ReportsTargetAndDraftPassesApart) {
  const Works draft = Layer() + Works{{kHead, 300us, {kVocabulary, 1, 1}}};
  const Works verify =
      Repeat(Layer(), 6) + Works{{"void mul_mat_vec_q<(ggml_type)14, 4, false, false>(void const*)",
                                  1400us,
                                  {kVocabulary, 1, 1}}};
  const Proof proof = Prove(std::vector<Works>(20, Repeat(draft, 3) + verify));
  EXPECT_TRUE(proof.complete()) << proof.reason();
  EXPECT_EQ(Shapes(proof),
            "55 dispatches in each of 20 target passes; 10 dispatches in each of 60 draft passes");
}

TEST(Proof, AsksNothingAboutStepsInPrefill) {
  Recording recording;
  Completion request = recording.Serve(Prefill(), Step(), 4);
  const auto analysis = Analyze(recording.Finish(),
                                {.phase = Phase::kPrefill, .completion = request}, ShippedRules());
  ASSERT_TRUE(analysis);
  ASSERT_EQ(analysis->proof.items.size(), 2u);
  EXPECT_TRUE(analysis->proof.complete()) << analysis->proof.reason();
}

}  // namespace
}  // namespace culprit::analysis
