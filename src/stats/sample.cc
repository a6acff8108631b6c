#include "stats/sample.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"

namespace culprit::stats {

std::optional<double> Mean(Sample sample) {
  if (sample.empty()) return std::nullopt;
  const double sum = std::accumulate(sample.begin(), sample.end(), 0.0);
  return sum / static_cast<double>(sample.size());
}

std::optional<double> Variance(Sample sample) {
  if (sample.size() < 2) return std::nullopt;
  const double mean = *Mean(sample);
  double squares = 0;
  for (const double value : sample) squares += (value - mean) * (value - mean);
  return squares / static_cast<double>(sample.size() - 1);
}

std::optional<double> Quantile(Sample sample, double q) {
  CULPRIT_CHECK(q >= 0 && q <= 1);
  if (sample.empty()) return std::nullopt;
  std::vector<double> sorted(sample.begin(), sample.end());
  std::sort(sorted.begin(), sorted.end());
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], at - static_cast<double>(below));
}

std::optional<double> HodgesLehmann(Sample sample) {
  if (sample.size() > kMostHodgesLehmann) return Quantile(sample, 0.5);
  std::vector<double> means;
  means.reserve(sample.size() * (sample.size() + 1) / 2);
  for (std::size_t i = 0; i < sample.size(); ++i) {
    for (std::size_t k = 0; k <= i; ++k) means.push_back(sample[i] / 2 + sample[k] / 2);
  }
  return Quantile(means, 0.5);
}

Summary Summarize(Sample sample) {
  Summary summary;
  summary.n = sample.size();
  summary.mean = Mean(sample);
  if (const auto variance = Variance(sample)) summary.sd = std::sqrt(*variance);
  summary.median = Quantile(sample, 0.5);
  if (!summary.sd) summary.warnings.push_back(Warning::kNoSpread);
  return summary;
}

}  // namespace culprit::stats
