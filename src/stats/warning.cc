#include "stats/warning.h"

#include "base/check.h"

namespace culprit::stats {

std::string_view Describe(Warning warning) {
  switch (warning) {
    case Warning::kNoSpread:
      return "a single value has no spread; measure at least twice";
    case Warning::kNoInterval:
      return "fewer than 8 steps on one side: no interval and no test";
    case Warning::kFewSteps:
      return "fewer than 24 steps on one side: the interval takes the steps as independent";
    case Warning::kSlowNoise:
      return "the noise changes slowly over the window: the interval may be too narrow";
  }
  CULPRIT_CHECK(false);
}

}  // namespace culprit::stats
