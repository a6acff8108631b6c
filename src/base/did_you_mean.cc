#include "base/did_you_mean.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace culprit::base {
namespace {

std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string DidYouMean(std::string_view word, std::span<const std::string_view> words) {
  std::string nearest, all;
  std::size_t distance = 3;
  for (const std::string_view candidate : words) {
    if (candidate.empty()) continue;
    if (const std::size_t d = EditDistance(word.substr(0, 64), candidate); d < distance) {
      distance = d;
      nearest = candidate;
    }
    all += (all.empty() ? "" : ", ") + std::string(candidate);
  }
  if (!nearest.empty()) return fmt::format("did you mean \"{}\"?", nearest);
  return "known are: " + all;
}

}  // namespace culprit::base
