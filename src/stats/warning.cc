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
    case Warning::kFewPairs:
      return "fewer than 4 pairs: one odd run decides much; run at least 4";
    case Warning::kDrift:
      return "the machine drifts over the experiment: the change is estimated beside a drift that "
             "is linear in time";
    case Warning::kOrderEffect:
      return "the change depends on which variant of a pair runs first: one run affects the next";
    case Warning::kBlocked:
      return "all runs of one variant came before those of the other: a machine that warms up or "
             "slows down looks just like this; run them in turns";
    case Warning::kUnstable:
      return "the mean and the robust estimate disagree: a few pairs decide, look at each";
  }
  CULPRIT_CHECK(false);
}

}  // namespace culprit::stats
