#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace culprit::experiment {

// Slot is one run in the order of an experiment. All are counted from 0; variant 0 is the baseline.
// A pair holds one run of each variant, also when there are more than two.
struct Slot {
  std::size_t pair;
  std::size_t position;  // in the order of runs
  std::size_t variant;
  bool operator==(const Slot&) const = default;
};

// OrderOfTrials says which variant runs when. The same seed gives the same order, and a longer
// experiment begins like a shorter one.
//
// Two variants follow the sequence of Thue and Morse, pair by pair: AB BA BA AB BA AB AB BA, or the
// same with A and B exchanged, as the seed decides. Each two pairs hold one of either order, so
// that a linear drift cancels; each four cancel a quadratic one as well. Strict alternation charges
// the second variant a step of drift, and all of A before all of B charges it the whole.
// Three variants or more run in a random order, then in that order reversed, and so on with a new
// order each time: a linear drift cancels over each two pairs, and neighbours change.
//
// variants is at least 2.
// Source: Cox, Some Systematic Experimental Designs, 1951.
std::vector<Slot> OrderOfTrials(std::size_t variants, std::size_t pairs, std::uint64_t seed);

// Rerun is a voided pair again, in the order it had, to run from a position on. order is one of
// OrderOfTrials that holds the pair.
std::vector<Slot> Rerun(std::span<const Slot> order, std::size_t pair, std::size_t position);

}  // namespace culprit::experiment
