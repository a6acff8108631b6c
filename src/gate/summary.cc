#include "gate/summary.h"

#include <algorithm>
#include <cmath>

namespace culprit::gate {
namespace {

using Value = std::pair<double, std::size_t>;  // and its position

// The worst value of the best share of values, which are sorted from the best to the worst.
double WorstOfBest(double share, const std::vector<Value>& sorted) {
  const auto count = std::ceil(share * static_cast<double>(sorted.size()));
  return sorted[static_cast<std::size_t>(std::max(count, 1.0)) - 1].first;
}

std::optional<Spread> SpreadOf(const std::vector<Position>& positions, Metric metric) {
  std::vector<Value> values;
  values.reserve(positions.size());
  for (std::size_t i = 0; i < positions.size(); ++i) {
    if (const auto value = ValueOf(positions[i], metric)) values.emplace_back(*value, i);
  }
  if (values.empty()) return std::nullopt;
  const bool less_is_worse = LessIsWorse(metric);
  // Of equally bad positions the first comes last, where the worst is looked for.
  std::sort(values.begin(), values.end(), [less_is_worse](const Value& a, const Value& b) {
    if (a.first != b.first) return less_is_worse ? a.first > b.first : a.first < b.first;
    return a.second > b.second;
  });
  return Spread{.median = WorstOfBest(0.5, values),
                .p95 = WorstOfBest(0.95, values),
                .p99 = WorstOfBest(0.99, values),
                .worst = values.back().first,
                .at = values.back().second,
                .positions = values.size()};
}

std::optional<Perplexity> PerplexityOf(const std::vector<Position>& positions) {
  Perplexity perplexity;
  double baseline = 0, candidate = 0;
  for (const Position& position : positions) {
    if (!position.baseline_logprob || !position.candidate_logprob) {
      ++perplexity.unscored;
      continue;
    }
    ++perplexity.positions;
    baseline -= *position.baseline_logprob;
    candidate -= *position.candidate_logprob;
  }
  if (perplexity.positions == 0) return std::nullopt;
  const auto count = static_cast<double>(perplexity.positions);
  perplexity.baseline = std::exp(baseline / count);
  perplexity.candidate = std::exp(candidate / count);
  return perplexity;
}

}  // namespace

std::string_view Name(Metric metric) {
  switch (metric) {
    case Metric::kKl:
      return "KL divergence";
    case Metric::kReverseKl:
      return "reverse KL divergence";
    case Metric::kJs:
      return "Jensen-Shannon divergence";
    case Metric::kTotalVariation:
      return "total variation";
    case Metric::kOmitted:
      return "omitted probability";
    case Metric::kAdded:
      return "added probability";
    case Metric::kUnseen:
      return "unseen probability";
    case Metric::kCosine:
      return "cosine of the logits";
    case Metric::kFlipGap:
      return "distance from a tie";
    case Metric::kRecall:
      return "top-20 recall";
    case Metric::kRank:
      return "rank of the baseline's token";
    case Metric::kMaxDelta:
      return "largest logarithmic change";
  }
  return "";
}

bool LessIsWorse(Metric metric) { return metric == Metric::kCosine || metric == Metric::kRecall; }

std::optional<double> ValueOf(const Position& position, Metric metric) {
  switch (metric) {
    case Metric::kKl:
      return position.kl;
    case Metric::kReverseKl:
      return position.reverse_kl;
    case Metric::kJs:
      return position.js;
    case Metric::kTotalVariation:
      return position.total_variation;
    case Metric::kOmitted:
      return position.omitted;
    case Metric::kAdded:
      return position.added;
    case Metric::kUnseen:
      return position.unseen;
    case Metric::kCosine:
      return position.cosine;
    case Metric::kFlipGap:
      return position.flip_gap;
    case Metric::kRecall:
      return position.recall;
    case Metric::kRank:
      if (!position.rank) return std::nullopt;
      return static_cast<double>(*position.rank);
    case Metric::kMaxDelta:
      return position.max_delta;
  }
  return std::nullopt;
}

double Summary::Worst(Metric metric) const {
  if (const auto& spread = of(metric)) return spread->worst;
  return LessIsWorse(metric) ? 1 : 0;
}

Summary Comparison::Summarize() const {
  Summary summary{.positions = positions_.size()};
  for (std::size_t i = 0; i < positions_.size(); ++i) {
    const Position& position = positions_[i];
    summary.identical += position.identical ? 1 : 0;
    summary.disagreements += position.top_agrees ? 0 : 1;
    summary.partial += position.partial ? 1 : 0;
    if (!position.identical && !summary.different) summary.different = i;
  }
  for (const Metric metric : kMetrics) {
    summary.spreads[static_cast<std::size_t>(metric)] = SpreadOf(positions_, metric);
  }
  summary.perplexity = PerplexityOf(positions_);
  return summary;
}

}  // namespace culprit::gate
