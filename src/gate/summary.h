#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "gate/position.h"

namespace culprit::gate {

// Metric is one number of a Position.
enum class Metric {
  kKl,
  kReverseKl,
  kJs,
  kTotalVariation,
  kOmitted,
  kAdded,
  kUnseen,
  kCosine,
  kFlipGap,
  kRecall,
  kRank,
  kMaxDelta,
};
inline constexpr std::array kMetrics = {
    Metric::kKl,      Metric::kReverseKl, Metric::kJs,     Metric::kTotalVariation,
    Metric::kOmitted, Metric::kAdded,     Metric::kUnseen, Metric::kCosine,
    Metric::kFlipGap, Metric::kRecall,    Metric::kRank,   Metric::kMaxDelta};

// Name is what people read: "KL divergence".
std::string_view Name(Metric metric);
// LessIsWorse tells the metrics in which 1 is perfect from those in which 0 is.
bool LessIsWorse(Metric metric);
// ValueOf is absent where a position has no such number.
std::optional<double> ValueOf(const Position& position, Metric metric);

// Spread is what one metric came to over all positions that have it. median, p95 and p99 are values
// that were seen, the worst of the best 50, 95 and 99 % of positions; a mean is not among them,
// because it hides single positions. at is where the worst was, from 0, the first of several.
struct Spread {
  double median = 0, p95 = 0, p99 = 0, worst = 0;
  std::size_t at = 0;
  std::size_t positions = 0;
};

// Perplexity is how surprised each side was by the text that both were made to follow: the
// exponential of the mean surprise. Only positions that both score count; unscored are the others.
struct Perplexity {
  double baseline = 1, candidate = 1;
  std::size_t positions = 0, unscored = 0;

  [[nodiscard]] double ratio() const { return candidate / baseline; }
};

// Summary is a comparison of two variants over all positions of a text.
//
// different is the first position at which the servers told other numbers; a disagreement is one at
// which the likeliest token is another; at partial ones a server lists only its likeliest tokens.
struct Summary {
  std::size_t positions = 0, identical = 0, disagreements = 0, partial = 0;
  std::optional<std::size_t> different;
  std::array<std::optional<Spread>, kMetrics.size()> spreads = {};
  std::optional<Perplexity> perplexity;  // absent without a position that both score

  [[nodiscard]] const std::optional<Spread>& of(Metric metric) const {
    return spreads[static_cast<std::size_t>(metric)];
  }
  // Worst is 0 or, for the metrics of LessIsWorse, 1 where no position has the metric.
  [[nodiscard]] double Worst(Metric metric) const;
};

// Comparison takes one position after the other and keeps a few numbers of each, so that its memory
// depends on the length of the text and not on the vocabulary.
class Comparison {
 public:
  Comparison() = default;
  explicit Comparison(std::vector<Position> positions) : positions_(std::move(positions)) {}
  void Add(const Position& position) { positions_.push_back(position); }
  [[nodiscard]] const std::vector<Position>& positions() const { return positions_; }
  [[nodiscard]] Summary Summarize() const;

 private:
  std::vector<Position> positions_;
};

}  // namespace culprit::gate
