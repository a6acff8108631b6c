#pragma once

#include <string>

#include "base/result.h"
#include "base/units.h"

namespace culprit::cli {

// ParsePercentage reads "0.5%" or "0.5 %", above 0 and at most 100. The sign is asked for: 0.01
// could be meant as 1 %. option is the place of the error.
base::Result<base::Fraction> ParsePercentage(const std::string& text, const std::string& option);

}  // namespace culprit::cli
