#pragma once

#include <span>

#include "analysis/attribute.h"
#include "report/report.h"

namespace culprit::report {

// StepsTable has one row a variant: how many steps its tokens took and what a step and a token cost
// in the traced run. Under speculation the two tell different stories.
Table StepsTable(std::span<const analysis::Variant> variants);

}  // namespace culprit::report
