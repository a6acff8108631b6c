#include "gpu/usage.h"

#include <gtest/gtest.h>

#include "gpu/fake_machine.h"

namespace culprit::gpu {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::vector<Sample> PowerSamples(std::initializer_list<double> watts) {
  std::vector<Sample> samples;
  for (const double power : watts) {
    const auto number = static_cast<std::int64_t>(samples.size());
    samples.push_back({{.time = At(seconds(number)), .power = Watts(power)}, std::nullopt});
  }
  return samples;
}

TEST(Usage, HasMeanAndExtremesOfEachField) {
  const auto sample = [](int second, double x) {
    return Sample{{.time = At(seconds(second)),
                   .busy = base::Fraction(x / 128),
                   .temperature = Celsius(x),
                   .power = Watts(x),
                   .core_clock = Megahertz(10 * x),
                   .memory_clock = Megahertz(20 * x),
                   .memory_used = Bytes(30 * x),
                   .throttle = std::vector<std::string>()},
                  Cores(x)};
  };
  const std::vector<Sample> samples = {sample(0, 99), sample(1, 50), sample(2, 20), sample(3, 50),
                                       sample(4, 99)};
  const Usage usage = Summarize(samples, At(seconds(1)), At(seconds(4)));
  EXPECT_EQ(
      usage,
      (Usage{.samples = 3,
             .busy = {{base::Fraction(0.3125), base::Fraction(0.15625), base::Fraction(0.390625)}},
             .temperature = {{Celsius(40), Celsius(20), Celsius(50)}},
             .power = {{Watts(40), Watts(20), Watts(50)}},
             .core_clock = {{Megahertz(400), Megahertz(200), Megahertz(500)}},
             .memory_clock = {{Megahertz(800), Megahertz(400), Megahertz(1000)}},
             .memory_used = {{Bytes(1200), Bytes(600), Bytes(1500)}},
             .server = {{Cores(40), Cores(20), Cores(50)}},
             .energy = Joules(35 + 35 + 74.5),
             .throttle = std::vector<std::string>()}));
}

TEST(Usage, OfNothingSaysNothing) {
  EXPECT_EQ(Summarize({}, At(seconds(0)), At(seconds(9))), Usage());
  const std::vector<Sample> silent = {{{.time = At(seconds(1))}, std::nullopt}};
  EXPECT_EQ(Summarize(silent, At(seconds(0)), At(seconds(9))), Usage{.samples = 1});
}

TEST(Usage, EnergyIsTheIntegralOfPowerBetweenTheEnds) {
  const auto samples = PowerSamples({0, 10, 20, 20});
  EXPECT_EQ(Summarize(samples, At(seconds(0)), At(seconds(3))).energy, Joules(5 + 15 + 20));
  EXPECT_EQ(Summarize(samples, At(milliseconds(500)), At(milliseconds(2500))).energy,
            Joules(3.75 + 15 + 10));
  EXPECT_EQ(Summarize(samples, At(milliseconds(1250)), At(milliseconds(1750))).energy, Joules(7.5))
      << "a stretch between two samples";
  // Two halves are the whole.
  EXPECT_EQ(*Summarize(samples, At(seconds(0)), At(milliseconds(1500))).energy +
                *Summarize(samples, At(milliseconds(1500)), At(seconds(3))).energy,
            Joules(40));
}

TEST(Usage, EnergyOfAStretchThatSamplesDoNotCoverIsAbsent) {
  const auto samples = PowerSamples({10, 10});
  EXPECT_EQ(Summarize(samples, At(seconds(-1)), At(seconds(1))).energy, std::nullopt);
  EXPECT_EQ(Summarize(samples, At(seconds(0)), At(seconds(2))).energy, std::nullopt);
  EXPECT_EQ(Summarize(samples, At(seconds(0)), At(seconds(1))).energy, Joules(10));
}

TEST(Usage, ThrottleHasEveryReasonSeenInTheStretch) {
  std::vector<Sample> samples = PowerSamples({1, 1, 1, 1});
  samples[0].device.throttle = {{"outside"}};
  samples[1].device.throttle = {{"slow_power", "thermal_gfx"}};
  samples[2].device.throttle = {{"slow_power"}};
  EXPECT_EQ(Summarize(samples, At(seconds(1)), At(seconds(4))).throttle,
            (std::vector<std::string>{"slow_power", "thermal_gfx"}));
  EXPECT_EQ(Summarize(samples, At(seconds(3)), At(seconds(4))).throttle, std::nullopt);
}

}  // namespace
}  // namespace culprit::gpu
