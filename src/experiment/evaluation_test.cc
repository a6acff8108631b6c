#include "experiment/evaluation.h"

#include <gmock/gmock.h>

namespace culprit::experiment {
namespace {

using base::NanosF;
using base::Tokens;
using stats::Verdict;

// A trial of 101 tokens at a decode cost in ms per token, after 1,000 prompt tokens in 500 ms.
TrialRecord Trial(const std::string& variant, int pair, int position, double ms_per_token) {
  TrialRecord trial;
  trial.id = position + 1;
  trial.pair = pair;
  trial.position = position;
  trial.variant = variant;
  trial.baseline = variant == "a";
  Completion completion;
  completion.prompt = Tokens(1000);
  completion.generated = Tokens(101);
  completion.timings = ServerTimings{.prompt = Tokens(1000)};
  completion.timings->prompt_time = NanosF(500e6);
  completion.timings->predicted = Tokens(101);
  completion.timings->predicted_time = NanosF(ms_per_token * 100 * 1e6);
  trial.completion = completion;
  trial.facts["kv_cache_mib"] = variant == "a" ? "5588" : "1572";
  trial.objects = {{"/opt/a", "1"}};
  return trial;
}

Spec TwoVariants() {
  Spec spec;
  spec.variants = {{.label = "a", .binary = "/a"}, {.label = "b", .binary = "/a", .kv = "q4_0"}};
  return spec;
}

// Pairs in the order AB BA BA AB, b dearer by `ratio`.
std::vector<TrialRecord> FourPairs(double ratio) {
  std::vector<TrialRecord> trials;
  const double noise[] = {0.999, 1.001, 1.0, 1.0005};
  for (int pair = 0; pair < 4; ++pair) {
    const bool b_first = pair == 1 || pair == 2;
    trials.push_back(Trial("a", pair, 2 * pair + (b_first ? 1 : 0), 10));
    trials.push_back(Trial("b", pair, 2 * pair + (b_first ? 0 : 1), 10 * ratio * noise[pair]));
  }
  return trials;
}

TEST(Evaluate, JudgesDecodeAndPrefillApart) {
  const Evaluation evaluation = Evaluate(TwoVariants(), FourPairs(1.2));
  ASSERT_EQ(evaluation.candidates.size(), 1U);
  const CandidateResult& b = evaluation.candidates[0];
  EXPECT_EQ(b.decode.verdict, Verdict::kRegression);
  EXPECT_NEAR(b.decode.comparison->change().value(), 0.2, 0.001);
  EXPECT_EQ(b.prefill.verdict, Verdict::kNoMeaningfulDifference);
  EXPECT_EQ(b.summary.runs, 4U);
  EXPECT_NEAR(evaluation.baseline.decode->millis(), 10, 1e-9);
  EXPECT_NEAR(b.summary.prefill->millis(), 0.5, 1e-9);
  EXPECT_EQ(b.summary.kv_cache_mib, "1572");
  EXPECT_EQ(Evaluate(TwoVariants(), FourPairs(1 / 1.2)).candidates[0].decode.verdict,
            Verdict::kImprovement);
}

TEST(Evaluate, LeavesOutPairsWithAVoidTrialAndCountsThem) {
  auto trials = FourPairs(1.2);
  trials[2].objections = {{"throttled", "the device throttled"}};
  const Evaluation evaluation = Evaluate(TwoVariants(), trials);
  EXPECT_EQ(evaluation.candidates[0].decode.pairs.size(), 3U);
  ASSERT_EQ(evaluation.voided.size(), 1U);
  EXPECT_EQ(evaluation.voided[0].objections[0].id, "throttled");
}

TEST(Evaluate, CountsTrialsWithoutAPartner) {
  auto trials = FourPairs(1.2);
  EXPECT_EQ(Evaluate(TwoVariants(), trials).unpaired, 0U);
  trials.push_back(Trial("a", 4, 8, 10));
  trials.push_back(Trial("a", 5, 9, 10));
  EXPECT_EQ(Evaluate(TwoVariants(), trials).unpaired, 2U);
}

TEST(Evaluate, WantsThePairsOfItsDesignBeforeMore) {
  Spec spec = TwoVariants();
  spec.design.pairs = 12;
  const Evaluation evaluation = Evaluate(spec, FourPairs(1.2));
  EXPECT_EQ(evaluation.candidates[0].decode.verdict, Verdict::kInconclusive);
  EXPECT_EQ(evaluation.candidates[0].decode.more_pairs, 8U);
}

TEST(Evaluate, JudgesMorePairsThanItsDesignHas) {
  Spec spec = TwoVariants();
  spec.design.pairs = 2;
  EXPECT_EQ(Evaluate(spec, FourPairs(1.2)).candidates[0].decode.verdict, Verdict::kRegression);
}

TEST(Evaluate, TakesTheLastRunOfAPairThatWasRunAgain) {
  auto trials = FourPairs(1.2);
  trials[1].objections = {{"throttled", ""}};
  trials.push_back(Trial("a", 0, 8, 11));
  trials.push_back(Trial("b", 0, 9, 11));
  const Evaluation evaluation = Evaluate(TwoVariants(), trials);
  ASSERT_EQ(evaluation.candidates[0].decode.pairs.size(), 4U);
  EXPECT_EQ(evaluation.candidates[0].decode.pairs[0].baseline, 11);
}

TEST(Evaluate, SaysWhichDifferencesNobodyAskedFor) {
  auto trials = FourPairs(1.2);
  for (auto& trial : trials) trial.facts["threads"] = trial.variant == "a" ? "2" : "1";
  const auto differences = Evaluate(TwoVariants(), trials).candidates[0].differences;
  ASSERT_EQ(differences.size(), 2U);
  EXPECT_EQ(differences[0].fact, "kv_cache_mib");
  EXPECT_TRUE(differences[0].named);
  EXPECT_EQ(differences[1].fact, "threads");
  EXPECT_FALSE(differences[1].named);
}

TEST(Evaluate, TellsTheArmsOfTheSameVariantApart) {
  Spec spec = TwoVariants();
  spec.variants.resize(1);
  spec.design.same_variant = true;
  auto trials = FourPairs(1.0);
  for (auto& trial : trials) {
    trial.variant = "a";
    trial.facts.clear();
  }
  const Evaluation evaluation = Evaluate(spec, trials);
  ASSERT_EQ(evaluation.candidates.size(), 1U);
  EXPECT_EQ(evaluation.candidates[0].decode.pairs.size(), 4U);
  EXPECT_TRUE(evaluation.candidates[0].same_objects);
  EXPECT_EQ(evaluation.candidates[0].decode.verdict, Verdict::kNoMeaningfulDifference);
  EXPECT_EQ(evaluation.candidates[0].summary.label, "a (again)");
}

TEST(Evaluate, CountsTrialsThatOtherProgramsDisturbed) {
  auto trials = FourPairs(1.2);
  trials[0].readings["decode"].values["other_cpu_cores"] = {.mean = 1.4, .min = 1.4, .max = 1.4};
  trials[1].readings["decode"].values["other_cpu_cores"] = {.mean = 0.1, .min = 0.1, .max = 0.1};
  trials[2].readings["prefill"].values["other_cpu_cores"] = {.mean = 2, .min = 2, .max = 2};
  EXPECT_EQ(Evaluate(TwoVariants(), trials).disturbed, 1U);
}

TEST(Evaluate, ComparesTheServersTimesWithTheClients) {
  auto trials = FourPairs(1.2);
  auto& completion = *trials[0].completion;
  completion.arrivals = {base::HostTime(base::Nanos(0)),
                         base::HostTime(base::Nanos(1'100'000'000))};
  EXPECT_EQ(Evaluate(TwoVariants(), trials).client_disagrees, 1U);
}

TEST(Evaluate, IsFinishedWhenTheDesignAsksForNoMore) {
  Spec spec = TwoVariants();
  auto trials = FourPairs(1.2);
  EXPECT_TRUE(Evaluate(spec, trials).finished);  // the first look decides
  spec.design.pairs = 5;
  EXPECT_FALSE(Evaluate(spec, trials).finished);
  EXPECT_FALSE(Evaluate(spec, trials).ended_by_void);

  trials.push_back(Trial("b", 4, 8, 12));
  trials.back().objections = {{"log_lacks", "…"}};
  EXPECT_FALSE(Evaluate(spec, trials).finished);
  EXPECT_TRUE(Evaluate(spec, trials).ended_by_void);
}

TEST(Evaluate, TakesNothingOfASingleTrialForADifferenceOfTheServers) {
  auto trials = FourPairs(1.2);
  for (auto& trial : trials) trial.facts.clear();
  trials[7].facts["prompt_from"] = "saved slot";
  trials[7].facts["stopped"] = "killed";
  EXPECT_TRUE(Evaluate(TwoVariants(), trials).candidates[0].differences.empty());
}

TEST(Evaluate, HasNoVerdictWithoutPairs) {
  const Evaluation evaluation = Evaluate(TwoVariants(), {});
  EXPECT_EQ(evaluation.candidates[0].decode.verdict, Verdict::kInconclusive);
  EXPECT_FALSE(evaluation.candidates[0].decode.comparison);
  EXPECT_EQ(evaluation.baseline.runs, 0U);
}

}  // namespace
}  // namespace culprit::experiment
