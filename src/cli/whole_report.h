#pragma once

#include <string>
#include <vector>

#include "cli/load_variant.h"
#include "experiment/evaluation.h"
#include "report/report.h"
#include "store/run_directory.h"

namespace culprit::cli {

// WholeReport is all that a run directory has to say: what its gate saw, the verdict, and from its
// traces why. A verdict stands without its attribution, and the report says what is missing.
struct WholeReport {
  report::Report report;
  bool attributed = false;
};

// WholeReportOf makes it from the directory alone; untraced tells what this command could not
// trace.
WholeReport WholeReportOf(const store::RunDirectory& run, const experiment::Evaluation& evaluation,
                          const AnalysisOptions& options,
                          const std::vector<std::string>& untraced = {});

// KeepPage writes a run's report.html beside its trials; a warning on stderr when it cannot, for
// the report is not lost by that.
void KeepPage(const store::RunDirectory& run, const report::Report& report);

}  // namespace culprit::cli
