#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "gate/distribution.h"

namespace culprit::gate {

// Fork is where two variants that run freely first choose another token; the text before is the
// same. A side without a token there had ended.
//
// gap is how many nats apart the two tokens are on the side where they are further apart, at least;
// infinite where a side rules out one of them, absent where nobody asked for the distributions.
struct Fork {
  std::size_t at = 0;
  std::optional<TokenId> baseline, candidate;
  std::optional<double> gap;

  [[nodiscard]] bool ended_early() const { return !baseline || !candidate; }
};

// FindFork is absent when the two are the same tokens.
std::optional<Fork> FindFork(std::span<const TokenId> baseline, std::span<const TokenId> candidate);

// TieGap is the gap of a fork between two tokens, from both sides' distributions at that position.
// A token that a list of the likeliest lacks is taken for as likely as its last.
double TieGap(const Distribution& baseline, const Distribution& candidate, TokenId one,
              TokenId other);

}  // namespace culprit::gate
