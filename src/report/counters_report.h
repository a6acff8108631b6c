#pragma once

#include <span>
#include <string>
#include <vector>

#include "analysis/counters.h"
#include "report/report.h"

namespace culprit::report {

// CountersContext is what the report says beside the counts. notes come with their variant's name;
// missing are sentences about passes that were not counted.
struct CountersContext {
  std::string title;
  std::vector<Note> notes = {};
  std::vector<std::string> missing = {};
};

// CountersReport shows what the launches of one variant take and count, or each candidate's beside
// the first one's. It knows no time: analysis::Counted holds none, since counting makes kernels run
// one by one.
Report CountersReport(std::span<const analysis::Counted> variants, CountersContext context);

}  // namespace culprit::report
