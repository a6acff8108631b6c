#pragma once

#include "base/units.h"

namespace culprit::analysis {

// StepRate is what speculation did to one variant: what a token cost, and how many steps of the
// target model it took. steps_per_token is above 0, and 1 without speculation.
struct StepRate {
  base::PerToken per_token;
  double steps_per_token;

  [[nodiscard]] base::PerStep per_step() const {
    return base::PerStep(per_token.value() / steps_per_token);
  }
};

// StepSplit divides a change in time per token into the part that comes from taking more or fewer
// steps (acceptance) and the part that comes from dearer or cheaper steps (kernels, host).
//
// The two add up to the change exactly: each factor's change is weighed with the mean of the other
// over A and B, so neither variant is the reference and swapping A and B only turns the signs.
struct StepSplit {
  base::PerToken more_steps;    // Δ(steps per token) · mean(time per step)
  base::PerToken slower_steps;  // mean(steps per token) · Δ(time per step)
};
StepSplit SplitBySteps(const StepRate& a, const StepRate& b);

}  // namespace culprit::analysis
