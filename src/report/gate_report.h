#pragma once

#include "gate/gate_run.h"
#include "report/report.h"

namespace culprit::report {

// GateReport is the answer of the correctness gate: for each candidate whether it answers as the
// baseline does, how far apart they are, and where.
Report GateReport(const gate::GateRun& run);

}  // namespace culprit::report
