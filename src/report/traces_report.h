#pragma once

#include <span>
#include <string>
#include <vector>

#include "experiment/trial_record.h"
#include "report/report.h"

namespace culprit::report {

// KeptTrace is a traced trial and the folder that it lies in.
struct KeptTrace {
  const experiment::TrialRecord& trial;
  std::string folder;
};

// TracesReport says which traces a run directory has, how they were got, and what to do with them.
// It shows no time of a traced request: that is no speed. missing are sentences about arms without
// a trace.
Report TracesReport(const std::string& run, std::span<const KeptTrace> traces,
                    std::span<const std::string> missing);

}  // namespace culprit::report
