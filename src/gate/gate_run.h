#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gate/judge.h"

namespace culprit::gate {

// Candidate is what was seen of one candidate in a Probe: see Evidence. positions and itself hold
// those that it got to.
struct Candidate {
  std::string label;
  std::vector<Position> positions, itself;
  std::optional<Fork> fork = {};
  std::optional<Loop> loop = {};
  std::optional<Position> cache = {};
  std::optional<Flaw> flaw = {};
  std::string other_chat = {};
  std::string not_comparable = {};
};

// Probe is one text that all variants were asked about: prompt tokens of prose, and positions
// behind it; with this ubatch size where one is given, and else as each variant runs.
struct Probe {
  std::size_t prompt = 0, positions = 0;
  std::optional<std::int64_t> ubatch = {};
  std::vector<Position> baseline_itself = {};
  std::optional<Loop> baseline_loop = {};
  std::optional<Position> baseline_cache = {};
  std::vector<Candidate> candidates = {};
};

// GateRun is what was seen of all candidates of one baseline, and holds no judgement: Judge comes
// to it anew from these numbers. All probes have the same candidates in the same order.
// approximate are the labels of those that are meant to answer a little otherwise.
struct GateRun {
  std::string baseline;
  Level level = DefaultLevel();
  std::vector<std::string> approximate = {};
  std::vector<Probe> probes = {};
};

// Verdict is the answer about one candidate: a result for each probe, and which of them is the
// worst, the first of several.
struct Verdict {
  std::string label;
  bool approximate = false;
  std::vector<GateResult> results;
  std::size_t worst = 0;

  [[nodiscard]] const GateResult& result() const { return results[worst]; }
  // excused: it diverged, as it was said to. What is broken is not excused.
  [[nodiscard]] bool excused() const {
    return approximate && result().outcome == Outcome::kDiverged;
  }
  [[nodiscard]] bool passed() const { return result().passed() || excused(); }
};

// JudgeRun is a verdict on each candidate, in order.
std::vector<Verdict> JudgeRun(const GateRun& run);

// Decision is what all verdicts come to. A difference that was found weighs more than a comparison
// that could not be made.
enum class Decision { kPassed, kFailed, kCannotTell };
Decision Decide(const std::vector<Verdict>& verdicts);

}  // namespace culprit::gate
