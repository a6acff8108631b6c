#pragma once

#include <cmath>
#include <cstddef>

namespace culprit::stats {

// Pair is one run of the baseline and one of the candidate, side by side in time.
//
// Costs are positive and finite (valid), lower is better, both of one unit: milliseconds per token.
// The positions are those of the two runs in the order in which the whole experiment ran, counted
// from 0 and all different; voided runs count too, since time passed in them.
struct Pair {
  double baseline;
  double candidate;
  std::size_t baseline_at;
  std::size_t candidate_at;

  [[nodiscard]] bool valid() const {
    return baseline > 0 && candidate > 0 && std::isfinite(baseline) && std::isfinite(candidate);
  }
  [[nodiscard]] bool candidate_first() const { return candidate_at < baseline_at; }
};

}  // namespace culprit::stats
