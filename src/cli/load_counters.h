#pragma once

#include <string>
#include <vector>

#include "analysis/counters.h"
#include "base/result.h"
#include "report/counters_report.h"
#include "store/run_directory.h"

namespace culprit::cli {

// CountOptions say what of a file of counters is looked at, and how.
struct CountOptions {
  bool whole = false;        // all of it, not the request's decode
  std::string request_file;  // of the only file
  std::string rules_file;
};

// LoadedCounters are the variants that were counted, the first one being the baseline, and what is
// to be said of them. missing are sentences about passes that are not there or cannot be read.
struct LoadedCounters {
  std::vector<analysis::Counted> variants;
  std::vector<report::Note> notes = {};
  std::vector<std::string> missing = {};
};

// LoadCounterFiles reads files that a user names, `[label=]PATH`, one a variant. Dispatches of the
// request's decode count where a request.json lies beside a file, all of them otherwise. Fails with
// kUsage where a time is given, as a comparison of traces takes one; and as the reader does.
base::Result<LoadedCounters> LoadCounterFiles(const std::vector<std::string>& arguments,
                                              const CountOptions& options);

// LoadRunCounters reads what a run directory has: of each arm the last valid trial of each pass.
// Fails with kIncomplete when it has none.
base::Result<LoadedCounters> LoadRunCounters(const store::RunDirectory& run,
                                             const CountOptions& options);

}  // namespace culprit::cli
