#include "stats/simulate.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"

namespace culprit::stats {
namespace {

std::vector<Pair> DrawPairs(const SimulatedExperiment& experiment, std::size_t runs,
                            Random& random) {
  const std::vector<double> noise = experiment.noise(random, runs);
  const bool exchanged = random.Coin();
  std::vector<Pair> pairs;
  pairs.reserve(experiment.order.size());
  for (PairPlaces places : experiment.order) {
    if (exchanged) std::swap(places.baseline_at, places.candidate_at);
    pairs.push_back({std::exp(noise[places.baseline_at]),
                     std::exp(noise[places.candidate_at] + experiment.effect), places.baseline_at,
                     places.candidate_at});
  }
  return pairs;
}

void RunOne(const SimulatedExperiment& experiment, std::span<const Pair> pairs,
            Outcomes& outcomes) {
  const Design& design = experiment.design;
  for (const std::size_t look : design.looks()) {
    const PairedComparison comparison = ComparePairs(pairs.first(look), design.level());
    const Verdict verdict = Judge(design, comparison, experiment.margin);
    if (verdict == Verdict::kInconclusive && look < design.cap()) continue;
    ++outcomes.verdicts[static_cast<std::size_t>(verdict)];
    outcomes.pairs += look;
    outcomes.unstable += comparison.Has(Warning::kUnstable);
    if (comparison.interval) {
      outcomes.half_width += (comparison.interval->high - comparison.interval->low) / 2;
    }
    return;
  }
}

}  // namespace

base::Fraction Outcomes::share(Verdict verdict) const {
  return base::Fraction(static_cast<double>(count(verdict)) / static_cast<double>(experiments));
}

double Outcomes::mean_pairs() const {
  return static_cast<double>(pairs) / static_cast<double>(experiments);
}

double Outcomes::mean_half_width() const { return half_width / static_cast<double>(experiments); }

Outcomes Simulate(const SimulatedExperiment& experiment, std::size_t experiments,
                  std::uint64_t seed) {
  CULPRIT_CHECK(experiment.order.size() >= experiment.design.cap() && experiments > 0);
  std::size_t runs = 0;
  for (const PairPlaces& places : experiment.order) {
    runs = std::max({runs, places.baseline_at + 1, places.candidate_at + 1});
  }
  Random random(seed);
  Outcomes outcomes;
  outcomes.experiments = experiments;
  for (std::size_t i = 0; i < experiments; ++i) {
    RunOne(experiment, DrawPairs(experiment, runs, random), outcomes);
  }
  return outcomes;
}

}  // namespace culprit::stats
