#include "experiment/order.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "base/check.h"
#include "stats/random.h"

namespace culprit::experiment {
namespace {

// Shuffle is Fisher and Yates' method: each order has the same chance.
void Shuffle(std::vector<std::size_t>& variants, stats::Random& random) {
  for (std::size_t i = variants.size(); i > 1; --i) {
    std::swap(variants[i - 1], variants[random.Below(i)]);
  }
}

// Whether the order turns round from one pair to the next. The sequence of Thue and Morse is the
// parity of the ones in the pair's number.
bool Turns(std::size_t variants, std::size_t pair) {
  if (variants > 2) return pair % 2 == 1;
  return (std::popcount(pair) - std::popcount(pair - 1)) % 2 != 0;
}

}  // namespace

std::vector<Slot> OrderOfTrials(std::size_t variants, std::size_t pairs, std::uint64_t seed) {
  CULPRIT_CHECK(variants >= 2);
  stats::Random random(seed);
  std::vector<std::size_t> order(variants);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<Slot> slots;
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    if (pair == 0 || (variants > 2 && pair % 2 == 0)) {
      Shuffle(order, random);
    } else if (Turns(variants, pair)) {
      std::reverse(order.begin(), order.end());
    }
    for (const std::size_t variant : order) slots.push_back({pair, slots.size(), variant});
  }
  return slots;
}

std::vector<Slot> Rerun(std::span<const Slot> order, std::size_t pair, std::size_t position) {
  std::vector<Slot> slots;
  for (const Slot& slot : order) {
    if (slot.pair == pair) slots.push_back({pair, position + slots.size(), slot.variant});
  }
  CULPRIT_CHECK(!slots.empty());
  return slots;
}

}  // namespace culprit::experiment
