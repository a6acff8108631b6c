#include "cli/trial_line.h"

#include <gtest/gtest.h>

#include <vector>

namespace culprit::cli {
namespace {

using experiment::Spec;
using experiment::TrialRecord;

Spec TwoVariants(std::optional<int> pairs) {
  Spec spec;
  spec.variants = {{.label = "f16"}, {.label = "q4"}};
  spec.design.pairs = pairs;
  return spec;
}

TrialRecord Trial(int pair, const char* variant, bool valid = true) {
  TrialRecord trial;
  trial.pair = pair;
  trial.variant = variant;
  trial.baseline = trial.variant == "f16";
  trial.completion.emplace();
  if (!valid) trial.objections.push_back({"not_idle", "the machine was busy"});
  return trial;
}

std::vector<TrialRecord> Pairs(int count) {
  std::vector<TrialRecord> trials;
  for (int pair = 0; pair < count; ++pair) {
    trials.push_back(Trial(pair, "q4"));
    trials.push_back(Trial(pair, "f16"));
  }
  return trials;
}

constexpr base::Nanos kEach = std::chrono::seconds(40);

TEST(Outlook, TellsWhenTheNextLookIsDue) {
  const Spec spec = TwoVariants({});
  EXPECT_EQ(Outlook(spec, Pairs(1), kEach), "next look after 4 pairs, in about 4 min");
  EXPECT_EQ(Outlook(spec, Pairs(3), kEach), "next look after 4 pairs, in about 80 s");
  EXPECT_EQ(Outlook(spec, Pairs(5), kEach), "next look after 6 pairs, in about 80 s");
  EXPECT_EQ(Outlook(TwoVariants(6), Pairs(4), kEach), "next look after 6 pairs, in about 3 min");
}

TEST(Outlook, CountsThePairsThatAreThere) {
  auto trials = Pairs(4);  // and one was lost, which is run again
  trials.erase(trials.begin(), trials.begin() + 2);
  EXPECT_EQ(Outlook(TwoVariants({}), trials, kEach), "next look after 4 pairs, in about 80 s");
  trials.push_back(Trial(0, "f16"));
  trials.push_back(Trial(0, "q4"));
  EXPECT_EQ(Outlook(TwoVariants({}), trials, kEach), "");
}

TEST(Outlook, IsSilentAtALookWhichMayBeTheLast) {
  EXPECT_EQ(Outlook(TwoVariants({}), Pairs(4), kEach), "");
  EXPECT_EQ(Outlook(TwoVariants({}), Pairs(10), kEach), "");
  EXPECT_EQ(Outlook(TwoVariants(1), Pairs(1), kEach), "");
}

TEST(Outlook, IsSilentInTheMiddleOfAPair) {
  auto trials = Pairs(1);
  trials.push_back(Trial(1, "f16"));
  EXPECT_EQ(Outlook(TwoVariants({}), trials, kEach), "");
  trials.push_back(Trial(1, "q4", /*valid=*/false));
  EXPECT_EQ(Outlook(TwoVariants({}), trials, kEach), "");
  trials.push_back(Trial(1, "f16"));
  trials.push_back(Trial(1, "q4"));
  EXPECT_EQ(Outlook(TwoVariants({}), trials, kEach), "next look after 4 pairs, in about 3 min");
}

}  // namespace
}  // namespace culprit::cli
