#include "stats/power.h"

#include <cmath>
#include <numbers>

#include "stats/distribution.h"

namespace culprit::stats {
namespace {

constexpr base::Fraction kEffects[] = {base::Fraction(0), base::Fraction(0.005),
                                       base::Fraction(0.01), base::Fraction(0.02),
                                       base::Fraction(0.05)};

// A pair's log ratio strays by the noise of two runs.
base::Fraction Detectable(const Design& design, base::Fraction deviation) {
  constexpr double kPower = 0.8;
  const auto pairs = static_cast<double>(design.cap());
  const double critical_t = StudentQuantile(1 - design.level() / 2, pairs - 1);
  const double error = deviation.value() * std::numbers::sqrt2 / std::sqrt(pairs);
  return base::Fraction(std::expm1(DetectableShift(kPower, critical_t, pairs - 1) * error));
}

}  // namespace

PowerStudy StudyPower(base::Fraction deviation, const Margin& margin,
                      std::span<const Design> designs, const std::vector<PairPlaces>& order,
                      std::size_t experiments, std::uint64_t seed) {
  PowerStudy study{deviation, margin, experiments, {}};
  for (const Design& design : designs) {
    PowerStudy::OfDesign of_design{design, Detectable(design, deviation), {}};
    for (const base::Fraction effect : kEffects) {
      const SimulatedExperiment experiment{IndependentNoise(deviation), std::log1p(effect.value()),
                                           design, order, margin};
      of_design.effects.push_back({effect, Simulate(experiment, experiments, seed)});
    }
    study.designs.push_back(std::move(of_design));
  }
  return study;
}

}  // namespace culprit::stats
