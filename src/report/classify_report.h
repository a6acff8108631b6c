#pragma once

#include <span>
#include <string>

#include "analysis/classify.h"
#include "analysis/launch_groups.h"
#include "report/report.h"
#include "trace/trace.h"

namespace culprit::report {

// ClassifyNamesReport says what the rules make of kernel names alone: one row for each thing that
// a launch of it can be, with the rule that decides and why.
Report ClassifyNamesReport(std::span<const std::string> names, const analysis::Launch& launch,
                           const analysis::RuleSet& rules);

// ClassifyTraceReport lists every class of a trace's dispatches, dearest first. classes must be of
// the whole trace.
Report ClassifyTraceReport(const trace::Trace& trace, const analysis::Classification& classes,
                           const analysis::RuleSet& rules);

}  // namespace culprit::report
