#pragma once

#include <string>
#include <vector>

#include "lab/machine_facts.h"

namespace culprit::lab {

// Symptom is one thing that was looked at: text says how it is, hint how to mend it ("" where there
// is nothing to mend). A problem would stop a run, a warning would spoil or disturb one, a notice
// is worth knowing. id is stable, snake_case.
struct Symptom {
  enum class Level { kOk, kNotice, kWarning, kProblem } level;
  std::string id, text, hint;
  bool operator==(const Symptom&) const = default;
};

// Examine judges what was found on a machine; what the machine does not tell is left out.
std::vector<Symptom> Examine(const MachineFacts& facts);

}  // namespace culprit::lab
