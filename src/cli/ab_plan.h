#pragma once

#include <string>

#include "experiment/spec.h"

namespace culprit::cli {

// PlanText says what an experiment would run, and in which order: every command, what it sets in
// its environment, and what is borrowed of the machine. It starts and touches nothing.
std::string PlanText(const experiment::Spec& spec);

}  // namespace culprit::cli
