#pragma once

#include <span>
#include <string>
#include <vector>

#include "experiment/spec.h"

namespace culprit::cli {

// Stages says what is done with the servers of an experiment: time them against each other, take a
// trace of each, or both; or count what their kernels do, which goes with neither.
struct Stages {
  bool measure = false, trace = false, count = false;

  // A gate comes before times, but a variant is always as right as itself.
  [[nodiscard]] bool gates(const experiment::Spec& spec) const {
    return measure && spec.gate.wanted && !spec.design.same_variant;
  }
};

// PlanText says what the stages of an experiment would run, and in which order: every command, what
// it sets in its environment, and what is borrowed of the machine. It starts and touches nothing.
// passes are the counters of each run where the stages count.
std::string PlanText(const experiment::Spec& spec, Stages stages,
                     std::span<const std::vector<std::string>> passes);

// Parts of it: each variant's command and what it sets in its environment; a line for each thing
// that is borrowed of the machine, begun by its line end.
std::string CommandsText(const experiment::Spec& spec);
// GateText says what the correctness gate compares: "the gate, level default: 128 positions …".
std::string GateText(const experiment::Spec& spec);
std::string BorrowedText(const experiment::Spec& spec);

}  // namespace culprit::cli
