#include "stats/block_means.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "stats/distribution.h"
#include "stats/sample.h"

namespace culprit::stats {
namespace {

constexpr std::size_t kBlocks = 8;
constexpr std::size_t kFineBlocks = 3 * kBlocks;

// v8 / v24 is about 1 for independent steps, which exceed 2 in 2 of 100 windows, and at most 3.3,
// when the three fine blocks of each block are equal.
constexpr double kSlowNoiseRatio = 2;

// VarianceOfDifference is the variance of mean(b) - mean(a) as count pairs of blocks show it.
double VarianceOfDifference(std::span<const double> a, std::span<const double> b,
                            std::size_t count) {
  std::vector<double> differences = BlockMeans(b, count);
  const std::vector<double> means_of_a = BlockMeans(a, count);
  for (std::size_t i = 0; i < count; ++i) differences[i] -= means_of_a[i];
  return *Variance(differences) / static_cast<double>(count);
}

}  // namespace

std::vector<double> BlockMeans(std::span<const double> series, std::size_t count) {
  CULPRIT_CHECK(count >= 1 && count <= series.size());
  std::vector<double> means;
  means.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t begin = series.size() * i / count;
    const std::size_t end = series.size() * (i + 1) / count;
    means.push_back(*Mean(series.subspan(begin, end - begin)));
  }
  return means;
}

DifferenceOfMeans CompareSeries(std::span<const double> a, std::span<const double> b,
                                double resolution) {
  CULPRIT_CHECK(!a.empty() && !b.empty() && resolution > 0);
  DifferenceOfMeans difference{*Mean(b) - *Mean(a), {}, {}, {}};
  const std::size_t steps = std::min(a.size(), b.size());
  if (steps < kBlocks) {
    difference.warnings.push_back(Warning::kNoInterval);
    return difference;
  }
  double variance = VarianceOfDifference(a, b, kBlocks);
  if (steps < kFineBlocks) {
    difference.warnings.push_back(Warning::kFewSteps);
  } else {
    const double fine = VarianceOfDifference(a, b, kFineBlocks);
    if (variance > kSlowNoiseRatio * fine) difference.warnings.push_back(Warning::kSlowNoise);
    variance = std::max(variance, 3 * variance - 2 * fine);
  }
  // Both stamps of a dispatch are rounded to a tick, each with a variance of tick² / 12.
  const double error = std::sqrt(std::max(variance, resolution * resolution / 6));
  const double df = static_cast<double>(kBlocks - 1);
  const double reach = StudentQuantile(0.975, df) * error;
  difference.interval = {difference.estimate - reach, difference.estimate + reach};
  difference.p = StudentTwoSidedP(difference.estimate / error, df);
  return difference;
}

}  // namespace culprit::stats
