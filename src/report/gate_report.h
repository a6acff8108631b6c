#pragma once

#include <string_view>

#include "gate/gate_run.h"
#include "report/report.h"

namespace culprit::report {

// GateReport is the answer of the correctness gate: for each candidate whether it answers as the
// baseline does, how far apart they are, and where.
Report GateReport(const gate::GateRun& run);

// AddGate puts the answers, and the first reason for each, into a report about speed: one that did
// not pass above the verdict, one that did below it.
void AddGate(const gate::GateRun& run, Report& report);

// AddNoGate notes that nobody compared the answers, and why.
void AddNoGate(std::string_view why, Report& report);

}  // namespace culprit::report
