#pragma once

#include <cstddef>
#include <optional>

#include "gate/distribution.h"

namespace culprit::gate {

// Position is how two distributions of the same position of a text differ, the text before it being
// the same for both. p is the baseline's distribution, q the candidate's. Divergences are in nats.
//
// Where a side lists only its likeliest tokens, what is not listed on both sides is one further
// token whose probability on each side is the rest. Lumping can only make two distributions more
// alike, so that kl, reverse_kl, js and total_variation are lower bounds then. total_variation is
// too small by at most unseen; for the other three no upper bound is known.
struct Position {
  bool identical = false;  // the servers told the same numbers, bit for bit
  bool partial = false;    // a side lists only its likeliest tokens
  // kl is KL(p||q) and reverse_kl KL(q||p). The first is infinite where the candidate rules out
  // what the baseline holds possible (omitted), the second in the opposite case (added).
  double kl = 0, reverse_kl = 0;
  double js = 0;               // Jensen-Shannon, from 0 to ln 2
  double total_variation = 0;  // half of the sum of |p - q|, from 0 to 1
  double unseen = 0;
  // cosine is that of the logits, each side centred by its mean over the tokens that both hold
  // possible. Log-probabilities are logits less one number a position, which centring takes away:
  // it is the same number on raw logits. Absent below two such tokens, or when a side is flat.
  std::optional<double> cosine;
  // flip_gap is how far from a tie the two sides are when their likeliest tokens differ: the larger
  // of what each side prefers its own token by. 0 when the likeliest token is the same.
  double flip_gap = 0;
  bool top_agrees = false;
  double recall = 0;  // share of the baseline's k likeliest tokens among the candidate's
  // rank of the forced token on the candidate's side, from 1; absent where it is not listed or not
  // possible. The two log-probabilities are the same token's.
  std::optional<std::size_t> rank;
  std::optional<double> baseline_logprob, candidate_logprob;
  double max_delta = 0;  // the largest |ln p - ln q| of a token that both hold possible
  std::optional<TokenId> max_delta_token;
  double omitted = 0;  // the baseline's probability of tokens that the candidate rules out
  double added = 0;    // and the candidate's of tokens that the baseline rules out
  std::size_t baseline_support = 0, candidate_support = 0;
};

// kNegligible is the probability below which omitted and added are no shortlist but what a softmax
// in floats loses: it makes 0 of probabilities below 1e-45. Such tokens make no divergence
// infinite.
inline constexpr double kNegligible = 1e-9;

// kTop is how many of the likeliest tokens recall is about.
inline constexpr std::size_t kTop = 20;

// ComparePositions compares the two; forced is the token that the text goes on with. In time
// proportional to n log k, in memory to n.
Position ComparePositions(const Distribution& baseline, const Distribution& candidate,
                          TokenId forced, std::size_t top = kTop);

}  // namespace culprit::gate
