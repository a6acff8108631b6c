#pragma once

#include <string>

#include "report/report.h"
#include "stats/power.h"

namespace culprit::report {

// PowerReport tells what experiments with a given noise could see, design by design. source is a
// sentence on where the noise is known from; "" when the user said it.
Report PowerReport(const stats::PowerStudy& study, const std::string& source);

}  // namespace culprit::report
