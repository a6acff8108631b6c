#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "gate/fork.h"
#include "gate/level.h"
#include "gate/loop.h"
#include "gate/summary.h"

namespace culprit::gate {

// Outcome is what a gate says of a candidate.
enum class Outcome {
  kIdentical,      // the same numbers at every position, bit for bit
  kEquivalent,     // other numbers, all within the level's bounds
  kDiverged,       // out of bounds, from a position on
  kBroken,         // no distribution at all, or nonsense
  kNotComparable,  // nothing can be said
};
std::string_view Name(Outcome outcome);  // "not comparable"

enum class Side { kBaseline, kCandidate };

// Flaw is what a side did that no sound server does, at a position where there is one. text is a
// clause about it, such as Describe of a Problem: "its probabilities add up to 0.9".
struct Flaw {
  Side side;
  std::optional<std::size_t> at;
  std::string text;
};

// Evidence is all that is known of a candidate beside its baseline. positions are those of the text
// that both were made to follow. Each side's comparison with itself, the same requests twice, is
// its noise. Loops are of the texts that each made freely. cache is a side with its prefix cache
// beside the same side without, at the last position. other_chat says how the tokens of a
// conversation differ, and not_comparable why nothing can be compared: clauses, "" for not at all.
struct Evidence {
  const Comparison& between;
  std::optional<Summary> baseline_itself = {}, candidate_itself = {};
  std::optional<Fork> fork = {};
  std::optional<Loop> baseline_loop = {}, candidate_loop = {};
  std::optional<Position> baseline_cache = {}, candidate_cache = {};
  std::optional<Flaw> flaw = {};
  std::string other_chat = {};
  std::string not_comparable = {};
};

// Breach is a bound that does not hold. value is the worst that it is about; position is the first
// that is beyond limit and worst_at the worst one, both from 0; beyond counts them, and allowed is
// how many there may be. limit is the level's, or the noise where that is larger.
struct Breach {
  Bound bound;
  double limit = 0, value = 0;
  std::size_t position = 0, worst_at = 0;
  std::size_t beyond = 0, allowed = 0;
};

// GateResult is the answer. at is where it went wrong first, from 0. text is a clause that says why
// for kBroken, which is about one side, and for kNotComparable. loop is the candidate's, where the
// baseline has none; cache is about the candidate with and without its prefix cache.
struct GateResult {
  Outcome outcome = Outcome::kNotComparable;
  std::optional<std::size_t> at;
  std::vector<Breach> breaches;
  bool perplexity_out_of_bounds = false;
  bool fork_out_of_bounds = false;
  std::optional<Loop> loop;
  std::optional<Breach> cache;
  std::string other_chat;
  std::string text;
  Side side = Side::kCandidate;
  Level level;
  Summary summary;
  std::optional<Fork> fork;

  [[nodiscard]] bool passed() const {
    return outcome == Outcome::kIdentical || outcome == Outcome::kEquivalent;
  }
};

// kNonsense is the ratio of perplexities above which a candidate does not differ but is broken: of
// the bugs that are known, one made 1,334 of 6.81.
inline constexpr double kNonsense = 10;

// Judge weighs the evidence. A difference counts only beyond what a side differs from itself by; a
// side that differs from itself by more than DefaultLevel allows is not comparable, at any level.
GateResult Judge(const Evidence& evidence, const Level& level);

// ValueText is a value of a metric for people, with its unit: "0.0123 nats", "12.0 %".
std::string ValueText(Metric metric, double value);

// Explain says what a result means, in sentences: the answer first, then each reason. The labels
// are printable.
std::vector<std::string> Explain(const GateResult& result, const std::string& baseline,
                                 const std::string& candidate);

}  // namespace culprit::gate
