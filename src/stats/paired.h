// paired: what a controlled A/B of paired runs says.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "base/units.h"
#include "stats/interval.h"
#include "stats/pair.h"
#include "stats/warning.h"

namespace culprit::stats {

// Method is how the change was estimated.
enum class Method {
  kPairs,       // the mean of the pairs' log ratios; t with n - 1 degrees of freedom
  kArmAndTime,  // beside a linear drift (arm_and_time.h); t with 2 n - 3
};

// Error is how well an estimate is known: its standard error and the degrees of freedom of that.
struct StandardError {
  double value;
  double df;
};

// PairedComparison tells by how much the candidate is dearer than the baseline.
//
// Changes are differences of ln cost: +0.01 is 1 % dearer. Logarithms make the two directions alike
// (comparing the other way round turns the sign of everything) and let pairs of different level
// count the same. level is the chance, split over both sides, that interval misses the truth: 0.05
// for a plain 95 % interval, less at a look of a sequential design (design.h).
// error and interval are absent for a single pair; drift there and where positions repeat so that
// the model has no answer, for which the method is then kPairs; order_effect with fewer than two
// pairs of either order. Where the method is kArmAndTime, robust_log_ratio and order_effect are
// those beside the drift, too.
struct PairedComparison {
  std::size_t pairs;
  double baseline_median;  // of the costs, in their unit
  double candidate_median;
  Method method;
  double log_ratio;  // the estimate of ln(candidate / baseline)
  double level;
  std::optional<StandardError> error;
  std::optional<Interval> interval;
  double robust_log_ratio;  // the Hodges-Lehmann estimate of the pairs' log ratios
  struct Drift {
    double per_run;  // ln cost, from one run to the next
    double t;
  };
  std::optional<Drift> drift;
  struct OrderEffect {
    double change;  // log ratio of the pairs with the candidate first minus that of the others
    double t;
  };
  std::optional<OrderEffect> order_effect;
  std::vector<Warning> warnings;

  [[nodiscard]] base::Fraction change() const;
  // IntervalAt is the interval at another level; absent for a single pair.
  [[nodiscard]] std::optional<Interval> IntervalAt(double other_level) const;
  // Detectable is the smallest true change that has an 80 % chance of an interval without zero,
  // given the noise seen; absent for a single pair.
  [[nodiscard]] std::optional<double> Detectable() const;
  [[nodiscard]] bool Has(Warning warning) const;
};

// ComparePairs compares two variants by paired runs; at least one pair.
//
// The change is the mean of ln(candidate / baseline) with a t interval. With fewer than 4 pairs, or
// when the costs visibly drift (|t| of the slope above 2), it is estimated beside a linear drift.
// That choice looks at the data, yet costs nothing in the order that experiment/order makes: there
// arm and time are orthogonal, so both methods give the same estimate and differ in the error alone
// (doc/measurements.md, "Errors and power of a controlled A/B"). Three pairs get 2 degrees of
// freedom where the model has 3: too few runs to see whether its errors are independent.
//
// Source: Kalibera and Jones, Rigorous Benchmarking in Reasonable Time, 2013 (repeat what varies
// most, here the start of a server; report the ratio with an interval).
PairedComparison ComparePairs(std::span<const Pair> pairs, double level = 0.05);

}  // namespace culprit::stats
