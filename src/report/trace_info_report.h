#pragma once

#include "analysis/analyze.h"
#include "report/report.h"
#include "trace/trace.h"

namespace culprit::report {

// TraceInfoReport says what is in a trace file, before anything is claimed about a request:
// whole must be the analysis of the whole trace.
Report TraceInfoReport(const trace::Trace& trace, const analysis::Analysis& whole);

}  // namespace culprit::report
