#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "gate/summary.h"

namespace culprit::gate {

// Bound is how far a metric may be off: at the worst position, or at the worst of the best 99 %.
struct Bound {
  enum class Of { kWorst, kP99 } of;
  Metric metric;
  double limit;
};

// Level says what passes as the same answer.
//
// bounds hold for single positions: no mean is among them. perplexity is how much the candidate's
// may exceed the baseline's. strict wants the same numbers, bit for bit. infinite_counts: a KL
// divergence is out of bounds also where it is infinite; otherwise what is omitted is judged by its
// own bound there.
struct Level {
  std::string name;
  std::vector<Bound> bounds;
  std::optional<base::Fraction> perplexity;
  bool strict = false, infinite_counts = false;
};

// kTieBand is how many nats apart two tokens may be for a change from one to the other to be a
// near-tie. Source: the half nat that a maintainer accepts for greedy outputs that fork.
inline constexpr double kTieBand = 0.5;
// kFewPositions is the number of positions below which the worst of the best 99 % says nothing that
// the worst does not.
inline constexpr std::size_t kFewPositions = 100;

// DefaultLevel lets pass what a cache of 8-bit values does to a model, and nothing like a shortlist
// or 4-bit weights. See doc/how-it-works.md, "The correctness gate".
Level DefaultLevel();

// ParseLevel reads "default", "strict", "cosine=0.99", "kl=0.05" or "ppl=0.01". Fails with kUsage.
base::Result<Level> ParseLevel(std::string_view text);

}  // namespace culprit::gate
