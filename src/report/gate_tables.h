#pragma once

#include <string>
#include <vector>

#include "gate/gate_run.h"
#include "report/report.h"

namespace culprit::report {

// GateTables are the answers, first, with one row for each candidate and probe; and, where anything
// differs, how far over all positions, and each position. verdicts are those of JudgeRun.
std::vector<Table> GateTables(const gate::GateRun& run, const std::vector<gate::Verdict>& verdicts);

// NameOf tells which of several probes a sentence about a variant means: "q4 behind 6,000 tokens".
std::string NameOf(const gate::GateRun& run, const gate::Probe& probe, const std::string& label);

}  // namespace culprit::report
