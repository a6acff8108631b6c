#pragma once

#include "analysis/analyze.h"
#include "analysis/trace_summary.h"
#include "report/report.h"

namespace culprit::report {

// TraceInfoReport says what is in a trace file, before anything is claimed about a request:
// whole must be the analysis of the whole trace.
Report TraceInfoReport(const analysis::TraceSummary& trace, const analysis::Analysis& whole);

}  // namespace culprit::report
