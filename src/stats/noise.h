// noise: how the cost of a run strays, for simulated experiments.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "base/units.h"
#include "stats/random.h"

namespace culprit::stats {

// Noise draws what is added to the ln cost of each run of one experiment, in the order of the runs.
using Noise = std::function<std::vector<double>(Random&, std::size_t runs)>;

// Independent runs with this standard deviation.
Noise IndependentNoise(base::Fraction deviation);

// A machine that warms up: 2 % dearer in the end, with a time constant of 4 runs; conditions that
// wander (AR(1) of 0.8 from run to run, 0.3 %); and 0.3 % of each run's own.
Noise ThermalNoise();

// A cost that climbs by 0.2 % with each run, and 0.3 % of each run's own.
Noise ClimbingNoise();

// Independent runs of 0.5 %, 8 % of which cost some 4 % more.
Noise OutlierNoise();

}  // namespace culprit::stats
