// How often CompareSeries is wrong and how often it sees an effect, on simulated noise. The figures
// stand in block_means.h. CULPRIT_LONG_TESTS=1 runs enough experiments to print them again.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>

#include "stats/block_means.h"
#include "stats/sample.h"

namespace culprit::stats {
namespace {

using Series = std::vector<double>;
using Random = std::mt19937_64;

// Correlated is AR(1) noise of sd 1 whose neighbours are correlated by phi; 0 is independent noise.
Series Correlated(Random& random, std::size_t steps, double phi) {
  std::normal_distribution<double> normal;
  Series series(steps);
  double at = normal(random);
  for (double& step : series) {
    step = at;
    at = phi * at + std::sqrt(1 - phi * phi) * normal(random);
  }
  return series;
}

Series Independent(Random& random, std::size_t steps) { return Correlated(random, steps, 0); }
Series Autocorrelated(Random& random, std::size_t steps) { return Correlated(random, steps, 0.8); }

// A trend over the window of 20 times the noise.
Series WithTrend(Random& random, std::size_t steps) {
  Series series = Correlated(random, steps, 0);
  for (std::size_t i = 0; i < steps; ++i) {
    series[i] += 20 * (static_cast<double>(i) + 0.5) / static_cast<double>(steps);
  }
  return series;
}

// One step of a hundred takes five times as long; the noise is 1 % of a step.
Series WithSpikes(Random& random, std::size_t steps) {
  std::bernoulli_distribution spike(0.01);
  Series series = Correlated(random, steps, 0);
  for (double& step : series) step = (100 + step) * (spike(random) ? 5 : 1);
  return series;
}

// What the H200 recordings look like: clocks wander over some 30 steps, and each step has its own.
Series Wandering(Random& random, std::size_t steps) {
  Series series = Correlated(random, steps, 0.97);
  const Series own = Correlated(random, steps, 0);
  for (std::size_t i = 0; i < steps; ++i) series[i] = (series[i] + own[i]) / std::sqrt(2.0);
  return series;
}

struct Scenario {
  const char* noise;
  Series (*draw)(Random&, std::size_t);
  std::size_t steps_a, steps_b;
  double false_positives;  // the share that may be exceeded by Monte-Carlo error only
};

constexpr Scenario kScenarios[] = {
    {"independent", Independent, 96, 96, 0.05},    {"independent", Independent, 511, 511, 0.05},
    {"AR(1) 0.8", Autocorrelated, 96, 96, 0.055},  {"AR(1) 0.8", Autocorrelated, 511, 511, 0.05},
    {"AR(1) 0.8", Autocorrelated, 511, 189, 0.05}, {"common trend", WithTrend, 96, 96, 0.05},
    {"common trend", WithTrend, 511, 189, 0.05},   {"1 % spikes x5", WithSpikes, 96, 96, 0.05},
    {"1 % spikes x5", WithSpikes, 511, 511, 0.05}, {"wandering", Wandering, 96, 96, 0.28},
    {"wandering", Wandering, 511, 511, 0.07},
};

// Outcome of many experiments at zero effect, and of the same ones with an effect added to b.
struct Outcome {
  double false_positives;
  double sees_step_sd;  // power for an effect of 2 standard deviations of a step
  double sees_errors;   // power for an effect of 4 standard errors of the difference
  double width;         // mean width of the interval in standard errors
  double warned;
};

bool Excludes(const Interval& interval, double value) {
  return interval.low > value || interval.high < value;
}

Outcome Simulate(const Scenario& scenario, int experiments) {
  Random random(20261130);
  std::vector<DifferenceOfMeans> differences;
  Series estimates, step_sds;
  for (int i = 0; i < experiments; ++i) {
    const Series a = scenario.draw(random, scenario.steps_a);
    const Series b = scenario.draw(random, scenario.steps_b);
    differences.push_back(CompareSeries(a, b, 1e-6));
    estimates.push_back(differences.back().estimate);
    Series residual(std::min(a.size(), b.size()));  // of equal trends only the noise is left
    for (std::size_t k = 0; k < residual.size(); ++k) {
      residual[k] = b[k * b.size() / residual.size()] - a[k * a.size() / residual.size()];
    }
    step_sds.push_back(std::sqrt(*Variance(residual) / 2));
  }
  const double error = std::sqrt(*Variance(estimates));
  const double step_sd = *Mean(step_sds);
  Outcome outcome{};
  for (const DifferenceOfMeans& difference : differences) {
    const Interval& interval = *difference.interval;
    outcome.false_positives += Excludes(interval, 0);
    // An effect moves the interval and leaves its width.
    outcome.sees_step_sd += interval.low > -2 * step_sd;
    outcome.sees_errors += interval.low > -4 * error;
    outcome.width += (interval.high - interval.low) / error;
    outcome.warned += !difference.warnings.empty();
  }
  for (double* sum : {&outcome.false_positives, &outcome.sees_step_sd, &outcome.sees_errors,
                      &outcome.width, &outcome.warned}) {
    *sum /= experiments;
  }
  return outcome;
}

TEST(CompareSeries, IsWrongInSimulationNoMoreOftenThanItsHeaderSays) {
  const bool longer = std::getenv("CULPRIT_LONG_TESTS") != nullptr;
  const int experiments = longer ? 20'000 : 400;
  for (const Scenario& scenario : kScenarios) {
    const Outcome outcome = Simulate(scenario, experiments);
    const double share = scenario.false_positives;
    const double monte_carlo_error = std::sqrt(share * (1 - share) / experiments);
    EXPECT_LE(outcome.false_positives, share + 3 * monte_carlo_error)
        << scenario.noise << ", " << scenario.steps_a << " steps";
    EXPECT_GE(outcome.sees_errors, 0.6) << scenario.noise << ", " << scenario.steps_a << " steps";
    if (!longer) continue;
    fmt::print(
        "{:14} {:3} {:3}: wrong {:4.1f} %, sees 2 sd {:5.1f} %, sees 4 se {:5.1f} %, "
        "width {:.2f} se, warned {:4.1f} %\n",
        scenario.noise, scenario.steps_a, scenario.steps_b, 100 * outcome.false_positives,
        100 * outcome.sees_step_sd, 100 * outcome.sees_errors, outcome.width, 100 * outcome.warned);
  }
}

}  // namespace
}  // namespace culprit::stats
