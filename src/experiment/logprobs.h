#pragma once

#include <cstdint>

namespace culprit::experiment {

// TokenId is the number of a token in its model's vocabulary, from 0.
using TokenId = std::int32_t;

// TokenLogprob is the natural logarithm of a token's probability at one position of a text, as a
// server told it before it sampled: NaN where it told no number, which is how servers write NaN
// and infinities (JSON has no words for them). It is still to be checked.
struct TokenLogprob {
  TokenId token = 0;
  double logprob = 0;
  bool operator==(const TokenLogprob&) const = default;
};

}  // namespace culprit::experiment
