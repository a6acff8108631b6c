// How often experiments come to a wrong verdict, and how often they see an effect, on simulated
// noise. The figures stand in doc/measurements.md, from 40,000 experiments a row, which
// CULPRIT_LONG_TESTS=1 runs.
#include "stats/simulate.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <string>

namespace culprit::stats {
namespace {

struct NamedNoise {
  const char* name;
  Noise noise;
};

struct NamedDesign {
  const char* name;
  Design design;
};

std::vector<NamedNoise> Noises() {
  return {{"independent 0.5 %", IndependentNoise(base::Fraction(0.005))},
          {"thermal", ThermalNoise()},
          {"climbing", ClimbingNoise()},
          {"8 % outliers", OutlierNoise()}};
}

std::vector<NamedDesign> Designs() {
  return {{"sequential 4-10", Design::Sequential()},
          {"fixed 3", Design::Fixed(3)},
          {"fixed 4", Design::Fixed(4)},
          {"fixed 6", Design::Fixed(6)},
          {"fixed 10", Design::Fixed(10)},
          {"sequential 3", Design::Sequential(3)}};
}

// The order that experiment/order makes: AB BA BA AB BA AB AB BA …
std::vector<PairPlaces> InterleavedOrder(std::size_t pairs) {
  std::vector<PairPlaces> order;
  for (std::size_t i = 0; i < pairs; ++i) {
    const std::size_t candidate_first = std::popcount(i) % 2 == 0 ? 0 : 1;
    order.push_back({2 * i + candidate_first, 2 * i + 1 - candidate_first});
  }
  return order;
}

// All runs of one variant, then all of the other.
std::vector<PairPlaces> BlockedOrder(std::size_t pairs) {
  std::vector<PairPlaces> order;
  for (std::size_t i = 0; i < pairs; ++i) order.push_back({i, pairs + i});
  return order;
}

// With a margin of next to nothing each interval that excludes zero becomes a verdict.
const Margin kNoMargin{base::Fraction(1e-6), base::Fraction(1e-6)};
const Margin kUsualMargin{kDecodeMargin, base::Fraction(1e-6)};

double Wrong(const Outcomes& outcomes) {
  return outcomes.share(Verdict::kRegression).value() +
         outcomes.share(Verdict::kImprovement).value();
}

double Same(const Outcomes& outcomes) {
  return outcomes.share(Verdict::kNoMeaningfulDifference).value();
}

bool Longer() { return std::getenv("CULPRIT_LONG_TESTS") != nullptr; }

// Cell is one noise with one design.
struct Cell {
  double excludes_zero;     // at no effect, whatever the size: what the interval promises
  double wrong;             // at no effect, with the usual margin
  double same;              // at no effect: no meaningful difference
  double same_at_margin;    // at an effect of the margin: wrongly no meaningful difference
  double power_1, power_2;  // regression, at an effect of 1 % and 2 %
  double pairs_0, pairs_2;  // used, at no effect and at 2 %
};

Cell SimulateCell(const Noise& noise, const Design& design, std::size_t experiments) {
  const auto simulate = [&](double effect, const Margin& margin) {
    return Simulate({noise, std::log1p(effect), design, InterleavedOrder(design.cap()), margin},
                    experiments, 20261130);
  };
  const Outcomes nothing = simulate(0, kUsualMargin);
  const Outcomes at_margin = simulate(kDecodeMargin.value(), kUsualMargin);
  const Outcomes two_percent = simulate(0.02, kUsualMargin);
  return {Wrong(simulate(0, kNoMargin)),
          Wrong(nothing),
          Same(nothing),
          Same(at_margin),
          at_margin.share(Verdict::kRegression).value(),
          two_percent.share(Verdict::kRegression).value(),
          nothing.mean_pairs(),
          two_percent.mean_pairs()};
}

TEST(Simulate, VerdictsAreWrongInFivePercentOfExperimentsAtMost) {
  const std::size_t experiments = Longer() ? 40'000 : 4'000;
  const double most = 0.05 + 3 * std::sqrt(0.05 * 0.95 / 4'000);
  fmt::print(
      "| noise | design | excludes 0 at no change | wrong verdict at no change | called same at "
      "the "
      "margin | called same at no change | sees 1 % | sees 2 % | pairs at no change | at 2 % |\n");
  for (const auto& [noise_name, noise] : Noises()) {
    for (const auto& [design_name, design] : Designs()) {
      const Cell cell = SimulateCell(noise, design, experiments);
      const std::string name = fmt::format("{}, {}", noise_name, design_name);
      EXPECT_LE(cell.excludes_zero, most) << name;
      EXPECT_LE(cell.wrong, most) << name;
      EXPECT_LE(cell.same_at_margin, most) << name;
      fmt::print(
          "| {} | {} | {:.1f} | {:.1f} | {:.1f} | {:.1f} | {:.1f} | {:.1f} | {:.1f} | {:.1f} |\n",
          noise_name, design_name, 100 * cell.excludes_zero, 100 * cell.wrong,
          100 * cell.same_at_margin, 100 * cell.same, 100 * cell.power_1, 100 * cell.power_2,
          cell.pairs_0, cell.pairs_2);
    }
  }
}

// A noisy machine, of which six sessions of a variant against itself were kept: the floor is at
// least the half width of their intervals.
TEST(Simulate, AMeasuredFloorHalvesTheWrongVerdictsAtLeast) {
  const Noise noise = IndependentNoise(base::Fraction(0.05));
  const Design design = Design::Sequential();
  const auto order = InterleavedOrder(design.cap());
  const Outcomes sessions = Simulate({noise, 0, design, order, {}}, 6, 3);
  const Margin floor{kDecodeMargin, base::Fraction(std::expm1(sessions.mean_half_width()))};
  const std::size_t experiments = Longer() ? 40'000 : 4'000;
  const double without = Wrong(Simulate({noise, 0, design, order, {}}, experiments, 5));
  const double with = Wrong(Simulate({noise, 0, design, order, floor}, experiments, 5));
  fmt::print("wrong verdicts without a floor {:.1f} %, with one of {:.1f} % {:.1f} %\n",
             100 * without, 100 * floor.floor->value(), 100 * with);
  EXPECT_GT(without, 0.03);
  EXPECT_LT(with, without / 2);
}

TEST(Simulate, ABlockedOrderIsWrongUnderDriftAndAnInterleavedOneIsNot) {
  const auto wrong = [](const Noise& noise, const std::vector<PairPlaces>& order) {
    return Wrong(Simulate({noise, 0, Design::Fixed(6), order, kNoMargin}, 1'000, 1));
  };
  EXPECT_GT(wrong(ThermalNoise(), BlockedOrder(6)), 0.15);
  EXPECT_LT(wrong(ThermalNoise(), InterleavedOrder(6)), 0.05);
}

TEST(Simulate, TheSameSeedGivesTheSameOutcomes) {
  const SimulatedExperiment experiment{
      OutlierNoise(), 0.01, Design::Sequential(), InterleavedOrder(10), {}};
  EXPECT_EQ(Simulate(experiment, 50, 1).verdicts, Simulate(experiment, 50, 1).verdicts);
  EXPECT_EQ(Simulate(experiment, 50, 1).pairs, Simulate(experiment, 50, 1).pairs);
}

TEST(Simulate, WithoutNoiseTheFirstLookSeesEverything) {
  const Outcomes outcomes = Simulate({IndependentNoise(base::Fraction(0)),
                                      std::log(1.03),
                                      Design::Sequential(),
                                      InterleavedOrder(10),
                                      {}},
                                     10, 1);
  EXPECT_EQ(outcomes.count(Verdict::kRegression), 10u);
  EXPECT_EQ(outcomes.mean_pairs(), 4);
  EXPECT_NEAR(outcomes.mean_half_width(), 0, 1e-12);
  EXPECT_EQ(outcomes.unstable, 0u);
}

}  // namespace
}  // namespace culprit::stats
