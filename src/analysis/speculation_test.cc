#include "analysis/speculation.h"

#include <gtest/gtest.h>

namespace culprit::analysis {
namespace {

using base::NanosF;
using base::PerToken;

PerToken FromRate(double tokens_per_second) { return PerToken(NanosF(1e9 / tokens_per_second)); }

// llama.cpp #26750, GB10: 200 tokens in 68 and in 79 steps, 69.23 and 57.67 tokens/s. Four fifths
// of the loss is acceptance.
TEST(SplitBySteps, FindsThatALossIsMostlyAcceptance) {
  const StepRate a{FromRate(69.23), 68.0 / 200};
  const StepRate b{FromRate(57.67), 79.0 / 200};
  const StepSplit split = SplitBySteps(a, b);
  EXPECT_NEAR((b.per_token - a.per_token).millis(), 2.90, 0.005);
  EXPECT_NEAR(split.more_steps.millis(), 2.38, 0.005);
  EXPECT_NEAR(split.slower_steps.millis(), 0.52, 0.005);
  EXPECT_NEAR(split.more_steps.millis() / 2.8955, 0.82, 0.005);
}

// Nathanw1014/strix-halo-llamacpp #2, gfx1151: 20.88 and 18.30 tokens/s at 3.627 and 3.683 tokens
// a pass. Acceptance even rose; each pass became slower.
TEST(SplitBySteps, FindsThatALossIsNotAcceptance) {
  const StepRate a{FromRate(20.88), 1 / 3.627};
  const StepRate b{FromRate(18.30), 1 / 3.683};
  const StepSplit split = SplitBySteps(a, b);
  EXPECT_NEAR(a.per_step().millis(), 173.7, 0.05);
  EXPECT_NEAR(b.per_step().millis(), 201.3, 0.05);
  EXPECT_NEAR((b.per_token - a.per_token).millis(), 6.75, 0.005);
  EXPECT_NEAR(split.more_steps.millis(), -0.79, 0.005);
  EXPECT_NEAR(split.slower_steps.millis(), 7.54, 0.005);
}

TEST(SplitBySteps, PartsAddUpAndTurnTheirSigns) {
  const StepRate a{PerToken(NanosF(4e6)), 0.4};
  const StepRate b{PerToken(NanosF(5e6)), 0.3};
  const StepSplit ab = SplitBySteps(a, b);
  const StepSplit ba = SplitBySteps(b, a);
  EXPECT_NEAR((ab.more_steps + ab.slower_steps).millis(), 1.0, 1e-12);
  EXPECT_EQ(ab.more_steps, -ba.more_steps);
  EXPECT_EQ(ab.slower_steps, -ba.slower_steps);
}

}  // namespace
}  // namespace culprit::analysis
