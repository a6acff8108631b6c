#pragma once

#include <optional>
#include <span>

#include "stats/pair.h"

namespace culprit::stats {

// ArmAndTime is the least squares fit of
//   ln cost = mean + arm * (0 for the baseline, 1 for the candidate) + slope * position
// to all runs of an experiment: what the candidate changes beside a drift that is linear in time.
//
// df is 2 n - 3 for n pairs. Errors are standard errors; 0 where the model fits exactly.
struct ArmAndTime {
  double arm;
  double arm_error;
  double slope;  // change of ln cost from one run to the next
  double slope_error;
  double df;
};

// FitArmAndTime is absent for fewer than two pairs, and for positions that cannot tell the arm from
// the time.
std::optional<ArmAndTime> FitArmAndTime(std::span<const Pair> pairs);

}  // namespace culprit::stats
