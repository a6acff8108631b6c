#include "gate/fork.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace culprit::gate {

std::optional<Fork> FindFork(std::span<const TokenId> baseline,
                             std::span<const TokenId> candidate) {
  const auto [left, right] =
      std::mismatch(baseline.begin(), baseline.end(), candidate.begin(), candidate.end());
  if (left == baseline.end() && right == candidate.end()) return std::nullopt;
  Fork fork{.at = static_cast<std::size_t>(left - baseline.begin())};
  if (left != baseline.end()) fork.baseline = *left;
  if (right != candidate.end()) fork.candidate = *right;
  return fork;
}

namespace {

// What a side gives a token at most. A list of the likeliest has none that is likelier than its
// last; otherwise what is not listed, or ruled out, is impossible.
double AtMost(const Distribution& side, TokenId token) {
  if (const auto logprob = side.Logprob(token)) return *logprob;
  const auto listed = side.listed();
  const bool ruled_out =
      std::binary_search(listed.begin(), listed.end(), TokenLogprob{token, 0},
                         [](const auto& a, const auto& b) { return a.token < b.token; });
  if (side.full() || ruled_out || listed.empty()) return -std::numeric_limits<double>::infinity();
  return std::min_element(listed.begin(), listed.end(),
                          [](const auto& a, const auto& b) { return a.logprob < b.logprob; })
      ->logprob;
}

}  // namespace

double TieGap(const Distribution& baseline, const Distribution& candidate, TokenId one,
              TokenId other) {
  double gap = 0;
  for (const Distribution* side : {&baseline, &candidate}) {
    const double first = AtMost(*side, one), second = AtMost(*side, other);
    if (std::isinf(first) && std::isinf(second)) return std::numeric_limits<double>::infinity();
    gap = std::max(gap, std::abs(first - second));
  }
  return gap;
}

}  // namespace culprit::gate
