#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"

namespace culprit::gate {

// Estimate is a mean and its standard error, as llama-perplexity writes them: "0.0068 ± 0.0005".
struct Estimate {
  double value = 0, error = 0;
  bool operator==(const Estimate&) const = default;
};

// SecondOpinion is what llama-perplexity says of a candidate beside its baseline. Both read the
// same text in chunks of context tokens, each with its own build.
//
// kl is KL(baseline||candidate) in nats, with its median, the 99 % and the worst over all
// positions. same_top is the share of positions with the same likeliest token; rms_delta is how far
// the probability of the text's own token is off, as a share, root mean square. The tool rounds to
// 6 digits behind the point and keeps the baseline's log-probabilities in 16 bits: its KL
// divergence of a variant from itself may be a little below 0, and its perplexity of the baseline,
// which it takes from them, is left out.
//
// left_out are the flags of the two servers that llama-perplexity was not given.
struct SecondOpinion {
  std::int64_t chunks = 0;
  base::Tokens context{0};
  Estimate perplexity, kl, same_top, rms_delta;
  double kl_median = 0, kl_p99 = 0, kl_worst = 0;
  std::vector<std::string> left_out;
  bool operator==(const SecondOpinion&) const = default;

  // positions is how many were compared: the tool scores the second half of each chunk.
  [[nodiscard]] std::int64_t positions() const {
    return chunks * (Count(context) - 1 - Count(context) / 2);
  }
};

// ParsePerplexity reads what `llama-perplexity --kl-divergence` writes to stdout; context and
// left_out are still to be filled in. Fails with kServer when a number is missing, cut off or not
// finite: the tool leaves with exit code 0 also when it could not go on.
// Source: llama.cpp's tools/perplexity, whose table is the same since May 2024.
base::Result<SecondOpinion> ParsePerplexity(std::string_view text);

}  // namespace culprit::gate
