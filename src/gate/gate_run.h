#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "gate/judge.h"

namespace culprit::gate {

// Verdict is the gate's answer about one candidate. itself is the candidate compared with itself;
// absent where it did not get that far.
struct Verdict {
  std::string label;
  GateResult result;
  std::vector<Position> positions;
  std::optional<Summary> itself;
};

// GateRun is the answer about all candidates of one baseline, which is compared with itself too.
// prompt and positions count tokens: what all had read, and what was compared behind it.
struct GateRun {
  std::string baseline;
  std::size_t prompt = 0, positions = 0;
  std::optional<Summary> baseline_itself;
  std::vector<Verdict> verdicts;
};

}  // namespace culprit::gate
