#include "cli/exit_rule.h"

#include <gtest/gtest.h>

#include <array>

namespace culprit::cli {
namespace {

using experiment::Evaluation;
using experiment::Judgement;
using stats::Verdict;

Judgement Judged(Verdict verdict, double ratio = 1.0) {
  const std::array<stats::Pair, 1> pairs = {stats::Pair{10, 10 * ratio, 0, 1}};
  return {.comparison = stats::ComparePairs(pairs), .verdict = verdict};
}

Evaluation With(Judgement decode, Judgement prefill = Judged(Verdict::kNoMeaningfulDifference)) {
  Evaluation evaluation;
  evaluation.candidates.push_back({.decode = std::move(decode), .prefill = std::move(prefill)});
  return evaluation;
}

const Evaluation kSlower = With(Judged(Verdict::kRegression, 1.02));
const Evaluation kSame = With(Judged(Verdict::kNoMeaningfulDifference));
const Evaluation kOpen = With(Judged(Verdict::kInconclusive, 1.02));

ExitCode Done(const ExitRule& rule, const Evaluation& evaluation) {
  return Apply(rule, evaluation, ExitCode::kDone);
}

TEST(ExitRule, AVerdictIsNoFailureUnlessAskedFor) {
  for (const auto& evaluation : {kSlower, kSame, kOpen}) {
    EXPECT_EQ(Done({}, evaluation), ExitCode::kDone);
  }
}

TEST(ExitRule, FailsOnARegressionOfEitherPhase) {
  const ExitRule rule{.fail_on = "regression"};
  EXPECT_EQ(Done(rule, kSlower), ExitCode::kRegression);
  EXPECT_EQ(
      Done(rule, With(Judged(Verdict::kNoMeaningfulDifference), Judged(Verdict::kRegression, 1.1))),
      ExitCode::kRegression);
  EXPECT_EQ(Done(rule, With(Judged(Verdict::kImprovement, 0.9))), ExitCode::kDone);
  EXPECT_EQ(Done(rule, kOpen), ExitCode::kDone);
}

TEST(ExitRule, LetsSmallRegressionsPass) {
  EXPECT_EQ(Done({.fail_on = "regression:1.9"}, kSlower), ExitCode::kRegression);
  EXPECT_EQ(Done({.fail_on = "regression:2.1"}, kSlower), ExitCode::kDone);
}

TEST(ExitRule, NoRegressionIsMadeOfTwiceTheSameServer) {
  Evaluation evaluation = kSlower;
  evaluation.candidates.front().same_objects = true;
  EXPECT_EQ(Done({.fail_on = "regression"}, evaluation), ExitCode::kDone);
}

TEST(ExitRule, TellsGitBisectGoodBadOrSkip) {
  const ExitRule rule{.bisect = true};
  EXPECT_EQ(Done(rule, kSame), ExitCode::kDone);
  EXPECT_EQ(Done(rule, kSlower), ExitCode::kRegression);
  EXPECT_EQ(Done(rule, kOpen), ExitCode::kCannotTell);
  EXPECT_EQ(Apply(rule, kSame, ExitCode::kInvalid), ExitCode::kCannotTell);
}

TEST(ExitRule, ABrokenBaselineStopsABisection) {
  Evaluation evaluation = kOpen;
  evaluation.baseline.label = "good";
  evaluation.ended_by_void = true;
  evaluation.voided = {{1, "new", {}}};
  EXPECT_EQ(Apply({.bisect = true}, evaluation, ExitCode::kInvalid), ExitCode::kCannotTell);
  evaluation.voided.push_back({2, "good", {}});
  EXPECT_EQ(Apply({.bisect = true}, evaluation, ExitCode::kInvalid), ExitCode::kStopBisect);
}

// Anything from 1 to 127 would be taken for a bad build, or for one to skip.
TEST(ExitRule, StopsABisectionThatCannotGoOn) {
  const ExitRule rule{.bisect = true};
  for (const ExitCode code : {ExitCode::kUsage, ExitCode::kEnvironment, ExitCode::kInterrupted}) {
    EXPECT_EQ(ApplyWithout(rule, code), ExitCode::kStopBisect);
    EXPECT_EQ(ApplyWithout({}, code), code);
  }
}

ExitCode Attributed(const ExitRule& rule, const Evaluation& evaluation) {
  return ApplyWithAttribution(rule, evaluation, ExitCode::kDone, false);
}

TEST(ExitRule, ALostAttributionIsToldButNotToABisection) {
  EXPECT_EQ(Attributed({}, kSame), ExitCode::kInvalid);
  EXPECT_EQ(Attributed({.fail_on = "regression"}, kSlower), ExitCode::kRegression);
  EXPECT_EQ(Attributed({.bisect = true}, kSame), ExitCode::kDone);
  EXPECT_EQ(Attributed({.bisect = true}, kSlower), ExitCode::kRegression);
}

TEST(ExitRule, RefusesWhatIsNoPercentage) {
  const auto parses = [](const std::string& text) {
    CLI::App app;
    ExitRule rule;
    AddExitRule(app, rule);
    try {
      app.parse("--fail-on " + text);
    } catch (const CLI::ParseError&) {
      return false;
    }
    return true;
  };
  EXPECT_TRUE(parses("regression"));
  EXPECT_TRUE(parses("regression:2.5"));
  for (const auto* text : {"improvement", "regression:", "regression:x", "regression:-1",
                           "regression:nan", "regression2", "regression:1e9"}) {
    EXPECT_FALSE(parses(text)) << text;
  }
}

// A gate whose one candidate came out like this.
gate::GateRun GateOf(const gate::Candidate& candidate) {
  gate::Probe probe{.candidates = {candidate}};
  return {.baseline = "a", .probes = {probe}};
}

TEST(ExitRule, AFailedGateWeighsMoreThanAnySpeed) {
  const auto passed =
      GateOf({.label = "b", .positions = {{.identical = true, .top_agrees = true}}});
  const auto failed = GateOf({.label = "b", .flaw = gate::Flaw{gate::Side::kCandidate, {}, "x"}});
  const auto other = GateOf({.label = "b", .not_comparable = "it is another model"});
  using enum ExitCode;
  EXPECT_EQ(AfterGate({}, kDone), kDone);
  EXPECT_EQ(AfterGate(passed, kDone), kDone);
  EXPECT_EQ(AfterGate(passed, kInvalid), kInvalid);
  EXPECT_EQ(AfterGate(other, kDone), kInvalid);
  for (const ExitCode code : {kDone, kInvalid}) EXPECT_EQ(AfterGate(failed, code), kGateFailed);
  for (const ExitCode code : {kUsage, kEnvironment, kInterrupted}) {
    EXPECT_EQ(AfterGate(failed, code), code);
  }
  EXPECT_EQ(Apply({.fail_on = "regression"}, kSlower, kGateFailed), kGateFailed);
  EXPECT_EQ(Apply({.bisect = true}, kSlower, kGateFailed), kCannotTell);
}

}  // namespace
}  // namespace culprit::cli
