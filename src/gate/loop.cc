#include "gate/loop.h"

#include <algorithm>

namespace culprit::gate {

std::optional<Loop> FindLoop(std::span<const TokenId> text, std::size_t least) {
  for (std::size_t period = 1; period <= std::min(kLongestPeriod, text.size()); ++period) {
    std::size_t from = text.size() - period;
    while (from > 0 && text[from - 1] == text[from - 1 + period]) --from;
    const std::size_t length = text.size() - from;
    if (length >= least && length / period >= kLoopTimes) {
      return Loop{period, length / period, from};
    }
  }
  return std::nullopt;
}

}  // namespace culprit::gate
