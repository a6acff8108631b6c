#include "experiment/completion.h"

#include <gtest/gtest.h>

namespace culprit::experiment {
namespace {

using base::NanosF;
using base::Steps;
using base::Tokens;

// The counters of a real request with a draft model: 512 tokens, 322 of 566 drafts accepted.
TEST(ServerTimings, AcceptedDraftsSaveSteps) {
  ServerTimings timings;
  timings.predicted = Tokens(512);
  timings.predicted_time = NanosF(2049.167e6);
  timings.draft = DraftCounters{Tokens(566), Tokens(322)};
  EXPECT_EQ(timings.decoded(), Tokens(511));
  EXPECT_EQ(timings.steps(), Steps(189));
  EXPECT_NEAR(timings.per_token()->millis(), 4.0101, 5e-5);
  EXPECT_NEAR(timings.per_step()->millis(), 10.8422, 5e-5);
}

TEST(ServerTimings, OneTokenHasNoDecode) {
  ServerTimings timings;
  timings.predicted = Tokens(1);
  EXPECT_FALSE(timings.decoded());
  EXPECT_FALSE(timings.steps());
  EXPECT_FALSE(timings.per_token());
}

TEST(ServerTimings, CountersThatContradictTheTokensGiveNoSteps) {
  ServerTimings timings;
  timings.predicted = Tokens(10);
  timings.draft = DraftCounters{Tokens(20), Tokens(9)};
  EXPECT_FALSE(timings.steps());
}

}  // namespace
}  // namespace culprit::experiment
