#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "stats/warning.h"

namespace culprit::stats {

// Sample is a set of measured values, all finite and of one unit. It may be empty.
using Sample = std::span<const double>;

// Mean is absent for an empty sample.
std::optional<double> Mean(Sample sample);

// Variance is the unbiased one (n - 1), in two passes: a mean of squares minus a squared mean
// cancels for large, close values. Absent below two values.
std::optional<double> Variance(Sample sample);

// Quantile interpolates between the two nearest values (type 7 of Hyndman and Fan, the default of
// R and NumPy); q lies in [0, 1]. Absent for an empty sample.
std::optional<double> Quantile(Sample sample, double q);

// HodgesLehmann is the median of the means of all pairs of values, each value with itself too: an
// estimate of the centre that a single outlier can't move far. Quadratic in the sample's size, so
// larger samples get their median instead. Absent for an empty sample.
// Source: Hodges and Lehmann, Estimates of Location Based on Rank Tests, 1963.
inline constexpr std::size_t kMostHodgesLehmann = 1000;
std::optional<double> HodgesLehmann(Sample sample);

// Summary is what a report says about a sample. What is undefined is absent, never 0.
struct Summary {
  std::size_t n = 0;
  std::optional<double> mean;
  std::optional<double> sd;
  std::optional<double> median;
  std::vector<Warning> warnings;
};
Summary Summarize(Sample sample);

}  // namespace culprit::stats
