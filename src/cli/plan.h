#pragma once

#include <string>

#include "experiment/spec.h"

namespace culprit::cli {

// Stages says what is done with the servers of an experiment: time them against each other, take a
// trace of each, or both.
struct Stages {
  bool measure = false, trace = false;
};

// PlanText says what the stages of an experiment would run, and in which order: every command, what
// it sets in its environment, and what is borrowed of the machine. It starts and touches nothing.
std::string PlanText(const experiment::Spec& spec, Stages stages);

}  // namespace culprit::cli
