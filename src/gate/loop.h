#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "experiment/logprobs.h"

namespace culprit::gate {

using experiment::TokenId;

// Loop is how a text runs in circles to its end: its last period tokens, over and over. from is
// where that begins, from 0; times counts whole rounds.
struct Loop {
  std::size_t period = 0, times = 0, from = 0;
};

// What is no longer than this, or has fewer rounds, may be a list or a refrain.
inline constexpr std::size_t kLoopTokens = 48, kLoopTimes = 4, kLongestPeriod = 32;
// A baseline that runs in circles half as long excuses a candidate: the fork between them is
// chance.
inline constexpr std::size_t kExcusingTokens = kLoopTokens / 2;

// FindLoop is the loop with the shortest period, of at least so many tokens; absent where the text
// runs in none.
std::optional<Loop> FindLoop(std::span<const TokenId> text, std::size_t least = kLoopTokens);

}  // namespace culprit::gate
