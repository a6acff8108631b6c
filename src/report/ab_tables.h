#pragma once

#include <vector>

#include "experiment/evaluation.h"
#include "experiment/spec.h"
#include "report/report.h"

namespace culprit::report {

// AbTables are the tables of a controlled A/B: the variants' medians, the verdicts, every pair,
// and, where there are any, the differences between the servers and the void trials.
std::vector<Table> AbTables(const experiment::Spec& spec, const experiment::Evaluation& evaluation);

}  // namespace culprit::report
