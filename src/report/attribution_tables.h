#pragma once

#include "analysis/attribute.h"
#include "report/cost_unit.h"
#include "report/report.h"

namespace culprit::report {

// TracedTable is table (a): what each category cost in the traced runs, its change, and what the
// change is made of. Its rows add up to the traced total and, with [unexplained], to the untraced
// one. kernels is how many kernels are listed under each category.
Table TracedTable(const analysis::Attribution& attribution, const CostUnit& unit,
                  std::size_t kernels);

// ScaledTable is table (b): table (a) stretched to untraced time. For looking at only; it says so.
Table ScaledTable(const analysis::Attribution& attribution, const CostUnit& unit);

}  // namespace culprit::report
