#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/units.h"
#include "stats/simulate.h"

namespace culprit::stats {

// PowerStudy says what experiments with a given noise could see, by simulating many.
//
// deviation is the standard deviation of a run's ln cost; runs are independent and normal. That is
// the best case: outliers take power away (doc/measurements.md).
struct PowerStudy {
  base::Fraction deviation{0};
  Margin margin;
  std::size_t experiments = 0;  // simulated for each design and effect
  struct OfEffect {
    base::Fraction effect;  // the true change of cost
    Outcomes outcomes;
  };
  struct OfDesign {
    Design design;
    // The change that a test at the last look has an 80 % chance to tell from zero.
    base::Fraction detectable;
    std::vector<OfEffect> effects;  // the first is no change
  };
  std::vector<OfDesign> designs;
};

// StudyPower simulates each design with each of the usual effects. order has a place for each pair
// of the longest design. The same seed gives the same study.
PowerStudy StudyPower(base::Fraction deviation, const Margin& margin,
                      std::span<const Design> designs, const std::vector<PairPlaces>& order,
                      std::size_t experiments, std::uint64_t seed);

}  // namespace culprit::stats
