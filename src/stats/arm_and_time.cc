#include "stats/arm_and_time.h"

#include <cmath>
#include <vector>

namespace culprit::stats {
namespace {

// Run is one row of the model, centred: as many runs are of either arm, so the arms are ±1/2.
struct Run {
  double arm, time, cost;
};

std::vector<Run> CentredRuns(std::span<const Pair> pairs) {
  std::vector<Run> runs;
  runs.reserve(2 * pairs.size());
  double time = 0;
  double cost = 0;
  for (const Pair& pair : pairs) {
    runs.push_back({-0.5, static_cast<double>(pair.baseline_at), std::log(pair.baseline)});
    runs.push_back({0.5, static_cast<double>(pair.candidate_at), std::log(pair.candidate)});
  }
  for (const Run& run : runs) {
    time += run.time;
    cost += run.cost;
  }
  for (Run& run : runs) {
    run.time -= time / static_cast<double>(runs.size());
    run.cost -= cost / static_cast<double>(runs.size());
  }
  return runs;
}

}  // namespace

std::optional<ArmAndTime> FitArmAndTime(std::span<const Pair> pairs) {
  if (pairs.size() < 2) return std::nullopt;
  const std::vector<Run> runs = CentredRuns(pairs);
  double arm_arm = 0, arm_time = 0, time_time = 0, arm_cost = 0, time_cost = 0;
  for (const Run& run : runs) {
    arm_arm += run.arm * run.arm;
    arm_time += run.arm * run.time;
    time_time += run.time * run.time;
    arm_cost += run.arm * run.cost;
    time_cost += run.time * run.cost;
  }
  const double determinant = arm_arm * time_time - arm_time * arm_time;
  // Above zero for positions that all differ, but for rounding where they are enormous.
  if (!(determinant > 1e-9 * arm_arm * time_time)) return std::nullopt;
  ArmAndTime fit{};
  fit.arm = (time_time * arm_cost - arm_time * time_cost) / determinant;
  fit.slope = (arm_arm * time_cost - arm_time * arm_cost) / determinant;
  fit.df = 2 * static_cast<double>(pairs.size()) - 3;
  double squares = 0;
  for (const Run& run : runs) {
    const double residual = run.cost - fit.arm * run.arm - fit.slope * run.time;
    squares += residual * residual;
  }
  fit.arm_error = std::sqrt(squares / fit.df * time_time / determinant);
  fit.slope_error = std::sqrt(squares / fit.df * arm_arm / determinant);
  return fit;
}

}  // namespace culprit::stats
