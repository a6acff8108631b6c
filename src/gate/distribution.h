#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "experiment/logprobs.h"

namespace culprit::gate {

using experiment::TokenId;
using experiment::TokenLogprob;

// Problem is why a list of log-probabilities is no distribution. token is where that was seen
// first; value is the log-probability there, and for kSum the sum of all probabilities.
struct Problem {
  enum class Kind {
    kEmpty,              // nothing listed, or nothing that is possible
    kNotANumber,         // NaN, or what a server writes for it
    kAboveOne,           // a probability above 1, +inf included
    kOutsideVocabulary,  // a token below 0 or beyond the vocabulary
    kDuplicate,          // a token twice
    kSum,                // the probabilities do not add up to 1
  } kind;
  std::optional<TokenId> token = {};
  std::optional<double> value = {};
  bool operator==(const Problem&) const = default;
};

// Describe is the problem as a clause: "its probabilities add up to 0.9".
std::string Describe(const Problem& problem);

// kSumTolerance is how far from 1 the sum of all probabilities may lie. Servers divide floats by a
// sum of floats: over 250,000 tokens that sum is off by some 1e-5.
inline constexpr double kSumTolerance = 1e-3;

// IsSupported tells whether a token is possible at all. A head that scores a shortlist of tokens
// fills the others with -10,000 or -inf, and a softmax in floats makes 0 of either, whose logarithm
// servers write as the lowest float.
constexpr bool IsSupported(double logprob) { return logprob > -10'000; }

// Distribution is what a server says of one position of a text before it samples: the
// log-probability of every token of the vocabulary, or of the likeliest.
//
// listed is sorted by token, each token once, as the server told it. full tells that the whole
// vocabulary is listed; without a known vocabulary that is when the listed tokens are those from 0
// to the last one without a gap.
class Distribution {
 public:
  // Make checks a list in any order. It never aborts, whatever a server says.
  static tl::expected<Distribution, Problem> Make(std::vector<TokenLogprob> listed,
                                                  std::optional<std::int64_t> vocabulary = {});

  [[nodiscard]] std::span<const TokenLogprob> listed() const { return listed_; }
  [[nodiscard]] bool full() const { return full_; }
  // support is how many of the listed tokens are possible.
  [[nodiscard]] std::size_t support() const { return support_; }
  // tail bounds the probability of all tokens that are not listed; 0 when full.
  [[nodiscard]] double tail() const { return tail_; }
  // log_scale is what Logprob adds to what the server told, so that a full distribution adds up to
  // 1 exactly; 0 when it is not full.
  [[nodiscard]] double log_scale() const { return log_scale_; }
  // Logprob is that of a token; absent where it is not listed or not possible.
  [[nodiscard]] std::optional<double> Logprob(TokenId token) const;

 private:
  Distribution() = default;

  std::vector<TokenLogprob> listed_;
  std::size_t support_ = 0;
  double tail_ = 0, log_scale_ = 0;
  bool full_ = false;
};

}  // namespace culprit::gate
