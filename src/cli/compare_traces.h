#pragma once

#include <vector>

#include "analysis/attribute.h"
#include "base/result.h"
#include "cli/load_variant.h"
#include "report/report.h"
#include "store/run_directory.h"

namespace culprit::cli {

// CompareVariants is the report on what each candidate costs against the first variant, and why.
// Fails with kMismatch where sides did different work, and with kIncomplete where a completeness
// proof fails and options do not ask for a look all the same.
// judged: it stands below a verdict on the times.
base::Result<report::Report> CompareVariants(std::vector<analysis::Variant> variants,
                                             const AnalysisOptions& options, bool judged);

// CompareTraces is the same of the traces in a run directory, with the untraced times of its timed
// trials. Fails also with kIncomplete when the baseline or every candidate has no trace there.
base::Result<report::Report> CompareTraces(const store::RunDirectory& run,
                                           const AnalysisOptions& options, bool judged);

}  // namespace culprit::cli
