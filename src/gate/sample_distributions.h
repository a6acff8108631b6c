// sample_distributions: distributions for tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include "gate/distribution.h"

namespace culprit::gate {

using Logits = std::vector<double>;

// kRuledOut is the logit of a token that a shortlist leaves out.
inline constexpr double kRuledOut = -std::numeric_limits<double>::infinity();

// Softmax is what a server would tell of these logits.
inline std::vector<TokenLogprob> Softmax(const Logits& logits) {
  const double top = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const double logit : logits) sum += std::exp(logit - top);
  std::vector<TokenLogprob> listed;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    listed.push_back({static_cast<TokenId>(i), logits[i] - top - std::log(sum)});
  }
  return listed;
}

inline Distribution FromLogits(const Logits& logits) {
  return Distribution::Make(Softmax(logits)).value();
}

// Likely is the listed tokens that are likeliest, as a server that caps its list tells them.
inline std::vector<TokenLogprob> Likely(std::vector<TokenLogprob> listed, std::size_t count) {
  std::sort(listed.begin(), listed.end(),
            [](const auto& a, const auto& b) { return a.logprob > b.logprob; });
  listed.resize(std::min(count, listed.size()));
  return listed;
}

inline Logits RandomLogits(std::size_t size, double spread, std::mt19937_64& random) {
  std::normal_distribution<double> draw(0, spread);
  Logits logits(size);
  for (double& logit : logits) logit = draw(random);
  return logits;
}

inline Logits WithNoise(Logits logits, double spread, std::mt19937_64& random) {
  std::normal_distribution<double> draw(0, spread);
  for (double& logit : logits) logit += draw(random);
  return logits;
}

// WithLikeliest makes one token as likely as `share` of all, the others staying as they are to each
// other.
inline Logits WithLikeliest(Logits logits, std::size_t token, double share) {
  double others = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (i != token) others += std::exp(logits[i]);
  }
  logits[token] = std::log(others * share / (1 - share));
  return logits;
}

}  // namespace culprit::gate
