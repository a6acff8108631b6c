#include "stats/paired.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/check.h"
#include "stats/arm_and_time.h"
#include "stats/distribution.h"
#include "stats/sample.h"

namespace culprit::stats {
namespace {

constexpr std::size_t kEnoughPairs = 4;
constexpr double kVisibleDriftT = 2;

// LogRatios takes out a drift: within a pair it moves the ratio up or down, as the order goes. A
// cost may be the largest double and another the smallest, so they are not divided.
std::vector<double> LogRatios(std::span<const Pair> pairs, double slope) {
  std::vector<double> ratios;
  ratios.reserve(pairs.size());
  for (const Pair& pair : pairs) {
    const double later =
        static_cast<double>(pair.candidate_at) - static_cast<double>(pair.baseline_at);
    ratios.push_back(std::log(pair.candidate) - std::log(pair.baseline) - slope * later);
  }
  return ratios;
}

double MedianCost(std::span<const Pair> pairs, double Pair::*cost) {
  std::vector<double> costs;
  costs.reserve(pairs.size());
  for (const Pair& pair : pairs) costs.push_back(pair.*cost);
  return *Quantile(costs, 0.5);
}

// Two equal numbers have no error to be divided by.
double SafeT(double value, double error) { return error > 0 ? value / error : 0; }

// Estimate fills in the estimate, its error and the drift, and returns the slope that it took out.
double Estimate(std::span<const Pair> pairs, PairedComparison& comparison) {
  const std::vector<double> ratios = LogRatios(pairs, 0);
  const auto n = static_cast<double>(pairs.size());
  comparison.method = Method::kPairs;
  comparison.log_ratio = *Mean(ratios);
  if (pairs.size() < 2) return 0;
  comparison.error = {std::sqrt(*Variance(ratios) / n), n - 1};
  const std::optional<ArmAndTime> fit = FitArmAndTime(pairs);
  if (!fit) return 0;
  comparison.drift = {fit->slope, SafeT(fit->slope, fit->slope_error)};
  const bool few = pairs.size() < kEnoughPairs;
  if (!few && std::abs(comparison.drift->t) <= kVisibleDriftT) return 0;
  comparison.method = Method::kArmAndTime;
  comparison.log_ratio = fit->arm;
  comparison.error = {fit->arm_error, few ? n - 1 : fit->df};
  return fit->slope;
}

// The order effect is a t test of two samples.
std::optional<PairedComparison::OrderEffect> FindOrderEffect(std::span<const Pair> pairs,
                                                             Sample ratios) {
  std::vector<double> baseline_first, candidate_first;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    auto& order = pairs[i].candidate_first() ? candidate_first : baseline_first;
    order.push_back(ratios[i]);
  }
  if (baseline_first.size() < 2 || candidate_first.size() < 2) return std::nullopt;
  const auto n = static_cast<double>(baseline_first.size());
  const auto m = static_cast<double>(candidate_first.size());
  const double variance =
      ((n - 1) * *Variance(baseline_first) + (m - 1) * *Variance(candidate_first)) / (n + m - 2);
  const double change = *Mean(candidate_first) - *Mean(baseline_first);
  return PairedComparison::OrderEffect{change,
                                       SafeT(change, std::sqrt(variance / n + variance / m))};
}

// The robust estimate contradicts the mean when it lies outside of the interval, or on the other
// side of zero and more than half a standard error away, which happens to one in fifty experiments
// with normal noise. Nearer, the signs differ by chance; a single far outlier moves the mean by one
// standard error.
bool IsUnstable(const PairedComparison& comparison) {
  if (!comparison.interval) return false;
  const double mean = comparison.log_ratio;
  const double robust = comparison.robust_log_ratio;
  const bool outside = robust < comparison.interval->low || robust > comparison.interval->high;
  return outside || (mean * robust < 0 && std::abs(mean - robust) > comparison.error->value / 2);
}

// One pair is always blocked, which is no news.
bool IsBlocked(std::span<const Pair> pairs) {
  const auto before = [](const Pair& a, const Pair& b) { return a.baseline_at < b.baseline_at; };
  const auto later = [](const Pair& a, const Pair& b) { return a.candidate_at < b.candidate_at; };
  const auto [first_a, last_a] = std::minmax_element(pairs.begin(), pairs.end(), before);
  const auto [first_b, last_b] = std::minmax_element(pairs.begin(), pairs.end(), later);
  return pairs.size() > 1 && (last_a->baseline_at < first_b->candidate_at ||
                              last_b->candidate_at < first_a->baseline_at);
}

void Warn(std::span<const Pair> pairs, PairedComparison& comparison) {
  const auto warn = [&](bool holds, Warning warning) {
    if (holds) comparison.warnings.push_back(warning);
  };
  const auto& order = comparison.order_effect;
  const auto n = static_cast<double>(comparison.pairs);
  warn(comparison.pairs < kEnoughPairs, Warning::kFewPairs);
  warn(comparison.drift && std::abs(comparison.drift->t) > kVisibleDriftT, Warning::kDrift);
  warn(order && std::abs(order->t) > StudentQuantile(0.975, n - 2), Warning::kOrderEffect);
  warn(IsBlocked(pairs), Warning::kBlocked);
  warn(IsUnstable(comparison), Warning::kUnstable);
}

}  // namespace

base::Fraction PairedComparison::change() const { return base::Fraction(std::expm1(log_ratio)); }

std::optional<Interval> PairedComparison::IntervalAt(double other_level) const {
  if (!error) return std::nullopt;
  const double reach = StudentQuantile(1 - other_level / 2, error->df) * error->value;
  return Interval{log_ratio - reach, log_ratio + reach};
}

std::optional<double> PairedComparison::Detectable() const {
  if (!error) return std::nullopt;
  constexpr double kPower = 0.8;
  const double critical_t = StudentQuantile(1 - level / 2, error->df);
  return DetectableShift(kPower, critical_t, error->df) * error->value;
}

bool PairedComparison::Has(Warning warning) const {
  return std::find(warnings.begin(), warnings.end(), warning) != warnings.end();
}

PairedComparison ComparePairs(std::span<const Pair> pairs, double level) {
  CULPRIT_CHECK(!pairs.empty() && level > 0 && level < 1);
  CULPRIT_CHECK(std::all_of(pairs.begin(), pairs.end(), std::mem_fn(&Pair::valid)));
  PairedComparison comparison{};
  comparison.pairs = pairs.size();
  comparison.baseline_median = MedianCost(pairs, &Pair::baseline);
  comparison.candidate_median = MedianCost(pairs, &Pair::candidate);
  comparison.level = level;
  const double slope = Estimate(pairs, comparison);
  const std::vector<double> ratios = LogRatios(pairs, slope);
  comparison.robust_log_ratio = *HodgesLehmann(ratios);
  comparison.order_effect = FindOrderEffect(pairs, ratios);
  comparison.interval = comparison.IntervalAt(level);
  Warn(pairs, comparison);
  return comparison;
}

}  // namespace culprit::stats
