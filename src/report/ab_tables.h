#pragma once

#include <string>
#include <vector>

#include "base/units.h"
#include "experiment/evaluation.h"
#include "experiment/spec.h"
#include "report/report.h"

namespace culprit::report {

// Change is a difference of ln cost as a share: +0.0953 is +10 %.
base::Fraction Change(double log_ratio);

// ChangeText writes a difference of ln cost in percent: "+4.2 %", "> +1,000 %" beyond reason.
std::string ChangeText(double log_ratio);

// AbTables are the tables of a controlled A/B: the variants' medians, the verdicts, every pair,
// and, where there are any, the differences between the servers and the void trials.
std::vector<Table> AbTables(const experiment::Spec& spec, const experiment::Evaluation& evaluation);

}  // namespace culprit::report
