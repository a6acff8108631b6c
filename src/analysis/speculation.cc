#include "analysis/speculation.h"

namespace culprit::analysis {

using base::PerToken;

StepSplit SplitBySteps(const StepRate& a, const StepRate& b) {
  const auto step_a = a.per_step().value();
  const auto step_b = b.per_step().value();
  return {PerToken((b.steps_per_token - a.steps_per_token) * ((step_a + step_b) / 2)),
          PerToken(((a.steps_per_token + b.steps_per_token) / 2) * (step_b - step_a))};
}

}  // namespace culprit::analysis
