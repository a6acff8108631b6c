#include "stats/noise.h"

#include <cmath>

namespace culprit::stats {

Noise IndependentNoise(base::Fraction deviation) {
  return [sd = deviation.value()](Random& random, std::size_t runs) {
    std::vector<double> noise(runs);
    for (double& run : noise) run = sd * random.Normal();
    return noise;
  };
}

Noise ThermalNoise() {
  return [](Random& random, std::size_t runs) {
    constexpr double kCorrelation = 0.8;
    const double renewal = std::sqrt(1 - kCorrelation * kCorrelation);
    double conditions = random.Normal();
    std::vector<double> noise(runs);
    for (std::size_t i = 0; i < runs; ++i) {
      const double warmth = 0.02 * (1 - std::exp(-static_cast<double>(i) / 4));
      noise[i] = warmth + 0.003 * conditions + 0.003 * random.Normal();
      conditions = kCorrelation * conditions + renewal * random.Normal();
    }
    return noise;
  };
}

Noise ClimbingNoise() {
  return [](Random& random, std::size_t runs) {
    std::vector<double> noise(runs);
    for (std::size_t i = 0; i < runs; ++i) {
      noise[i] = 0.002 * static_cast<double>(i) + 0.003 * random.Normal();
    }
    return noise;
  };
}

Noise OutlierNoise() {
  return [](Random& random, std::size_t runs) {
    std::vector<double> noise(runs);
    for (double& run : noise) {
      run = 0.005 * random.Normal();
      if (random.Uniform() < 0.08) run += 0.04 + 0.01 * random.Normal();
    }
    return noise;
  };
}

}  // namespace culprit::stats
