#include "gate/fork.h"

#include <algorithm>
#include <cmath>

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

std::optional<double> TieGap(const Distribution& baseline, const Distribution& candidate,
                             TokenId one, TokenId other) {
  double gap = 0;
  for (const Distribution* side : {&baseline, &candidate}) {
    const auto first = side->Logprob(one), second = side->Logprob(other);
    if (!first || !second) return std::nullopt;
    gap = std::max(gap, std::abs(*first - *second));
  }
  return gap;
}

}  // namespace culprit::gate
