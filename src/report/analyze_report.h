#pragma once

#include "analysis/analyze.h"
#include "report/report.h"

namespace culprit::report {

// AnalyzeReport tells where one trace's time went. It names no speed: a traced run has none.
Report AnalyzeReport(const std::string& label, const analysis::Analysis& analysis,
                     std::size_t kernels, bool incomplete);

}  // namespace culprit::report
