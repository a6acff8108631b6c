#include "stats/decision.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/check.h"
#include "stats/distribution.h"

namespace culprit::stats {
namespace {

constexpr std::size_t kFewestPairs = 3;
constexpr std::size_t kMostMorePairs = 100;

// Pairs come in blocks of two, one of either order.
constexpr std::size_t WholeBlocks(std::size_t pairs) { return pairs + pairs % 2; }

bool Within(const Interval& interval, double limit) {
  return interval.low > -limit && interval.high < limit;
}

}  // namespace

std::optional<base::Fraction> NoiseFloor(Sample log_ratios, Sample half_widths) {
  std::vector<double> sizes;
  sizes.reserve(log_ratios.size());
  for (const double ratio : log_ratios) sizes.push_back(std::abs(ratio));
  const auto quantile = Quantile(sizes, 0.975);
  if (!quantile) return std::nullopt;
  const double spread = Quantile(half_widths, 0.5).value_or(0);
  return base::Fraction(std::expm1(std::max(*quantile, spread)));
}

double Margin::log() const { return std::log1p(std::max(wanted, floor.value_or(wanted)).value()); }

std::string_view Describe(Verdict verdict) {
  switch (verdict) {
    case Verdict::kRegression:
      return "regression";
    case Verdict::kImprovement:
      return "improvement";
    case Verdict::kNoMeaningfulDifference:
      return "no meaningful difference";
    case Verdict::kInconclusive:
      return "inconclusive";
  }
  CULPRIT_CHECK(false);
}

Verdict Judge(const Design& design, const PairedComparison& comparison, const Margin& margin) {
  const double limit = margin.log();
  CULPRIT_CHECK(comparison.level == design.level() && limit > 0);
  if (!design.IsLook(comparison.pairs) || comparison.pairs < kFewestPairs ||
      comparison.Has(Warning::kUnstable)) {
    return Verdict::kInconclusive;
  }
  if (Within(*comparison.IntervalAt(2 * comparison.level), limit)) {
    return Verdict::kNoMeaningfulDifference;
  }
  const bool small = std::abs(comparison.log_ratio) < limit;
  if (small || (comparison.pairs == kFewestPairs && !margin.floor)) return Verdict::kInconclusive;
  if (comparison.interval->low > 0) return Verdict::kRegression;
  if (comparison.interval->high < 0) return Verdict::kImprovement;
  return Verdict::kInconclusive;
}

std::optional<std::size_t> MorePairs(const PairedComparison& comparison, const Margin& margin) {
  const std::size_t pairs = comparison.pairs;
  if (!comparison.error) return 4 - pairs;
  const double size = std::abs(comparison.log_ratio);
  const bool difference = size >= margin.log();
  const double gap = difference ? size : margin.log() - size;
  const double share = 1 - (difference ? comparison.level / 2 : comparison.level);
  const double deviation = comparison.error->value * std::sqrt(static_cast<double>(pairs));
  for (std::size_t total = std::max<std::size_t>(4, WholeBlocks(pairs + 1));
       total <= pairs + kMostMorePairs; total += 2) {
    const auto n = static_cast<double>(total);
    if (StudentQuantile(share, n - 1) * deviation / std::sqrt(n) < gap) return total - pairs;
  }
  return std::nullopt;
}

NextStep Next(const Design& design, const PairedComparison& comparison, const Margin& margin) {
  switch (Judge(design, comparison, margin)) {
    case Verdict::kRegression:
    case Verdict::kImprovement:
      return NextStep::kStopForDifference;
    case Verdict::kNoMeaningfulDifference:
      return NextStep::kStopForEquivalence;
    case Verdict::kInconclusive:
      break;
  }
  return comparison.pairs >= design.cap() ? NextStep::kCapReached : NextStep::kContinue;
}

}  // namespace culprit::stats
