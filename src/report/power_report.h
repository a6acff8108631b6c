#pragma once

#include "report/report.h"
#include "stats/power.h"

namespace culprit::report {

// PowerReport tells what experiments with a given noise could see, design by design.
Report PowerReport(const stats::PowerStudy& study);

}  // namespace culprit::report
