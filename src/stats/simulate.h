#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "stats/decision.h"
#include "stats/design.h"
#include "stats/noise.h"

namespace culprit::stats {

// PairPlaces are the positions of a pair's two runs in the order of an experiment.
struct PairPlaces {
  std::size_t baseline_at;
  std::size_t candidate_at;
};

// Outcomes counts what simulated experiments came to.
struct Outcomes {
  std::size_t experiments = 0;
  std::array<std::size_t, 4> verdicts{};  // by Verdict
  std::size_t pairs = 0;                  // used by all of them together
  std::size_t unstable = 0;               // that ended with kUnstable
  double half_width = 0;                  // of the last interval, ln cost, added up over all

  [[nodiscard]] std::size_t count(Verdict verdict) const {
    return verdicts[static_cast<std::size_t>(verdict)];
  }
  [[nodiscard]] base::Fraction share(Verdict verdict) const;
  [[nodiscard]] double mean_pairs() const;
  [[nodiscard]] double mean_half_width() const;
};

// SimulatedExperiment is what each simulated experiment has in common. effect is the true change of
// ln cost. order has a place for each pair up to the design's cap; every other experiment, by lot,
// runs it with the variants exchanged.
struct SimulatedExperiment {
  Noise noise;
  double effect;
  Design design;
  std::vector<PairPlaces> order;
  Margin margin;
};

// Simulate runs experiments as a runner would: pair by pair, until the design says stop.
Outcomes Simulate(const SimulatedExperiment& experiment, std::size_t experiments,
                  std::uint64_t seed);

}  // namespace culprit::stats
