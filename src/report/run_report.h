#pragma once

#include "experiment/evaluation.h"
#include "report/report.h"

namespace culprit::report {

// RunReport is the answer of a whole run: the verdict on the untraced times, and below it what the
// traces say about them. attribution is a CompareReport of the same run; where a verdict finds no
// proven change it says that the rows below may be chance.
Report RunReport(Report verdict, Report attribution, const experiment::Evaluation& evaluation);

// JudgedReport is the attribution alone, under the sentences of the verdict.
Report JudgedReport(Report verdict, Report attribution, const experiment::Evaluation& evaluation);

}  // namespace culprit::report
