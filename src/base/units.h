// Units: what crosses a function border carries its unit and its clock in the type.
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>

#include "base/check.h"

namespace culprit::base {

// Nanos is an exact duration; NanosF is one after the first division.
using Nanos = std::chrono::nanoseconds;
using NanosF = std::chrono::duration<double, std::nano>;

// TraceClock is the clock of a trace's stamps, whatever it is; HostClock the clock in which the
// client of a request took its times. An instant of one cannot be subtracted from the other.
struct TraceClock {
  using rep = std::int64_t;
  using period = std::nano;
  using duration = Nanos;
  using time_point = std::chrono::time_point<TraceClock, Nanos>;
  static constexpr bool is_steady = true;
};
struct HostClock {
  using rep = std::int64_t;
  using period = std::nano;
  using duration = Nanos;
  using time_point = std::chrono::time_point<HostClock, Nanos>;
  static constexpr bool is_steady = true;
};
using TraceTime = std::chrono::time_point<TraceClock, Nanos>;
using HostTime = std::chrono::time_point<HostClock, Nanos>;

// Tokens counts tokens; Steps counts forward passes of the target model during decode.
enum class Tokens : std::int64_t {};
enum class Steps : std::int64_t {};
constexpr std::int64_t Count(Tokens tokens) { return static_cast<std::int64_t>(tokens); }
constexpr std::int64_t Count(Steps steps) { return static_cast<std::int64_t>(steps); }

// Per is a duration per thing counted. operator/ below is the only way to get one from
// measurements; it cannot be divided again.
template <typename Thing>
class Per {
 public:
  constexpr explicit Per(NanosF value) : value_(value) {}
  [[nodiscard]] constexpr NanosF value() const { return value_; }
  [[nodiscard]] constexpr double millis() const { return value_.count() / 1e6; }
  constexpr Per operator-(Per other) const { return Per(value_ - other.value_); }
  constexpr Per operator+(Per other) const { return Per(value_ + other.value_); }
  constexpr Per operator-() const { return Per(-value_); }
  // The ratio of two costs of the same kind is a plain number.
  constexpr double operator/(Per other) const { return value_ / other.value_; }
  constexpr auto operator<=>(const Per&) const = default;

 private:
  NanosF value_;
};
using PerToken = Per<Tokens>;
using PerStep = Per<Steps>;

constexpr PerToken operator/(Nanos time, Tokens tokens) {
  CULPRIT_CHECK(Count(tokens) > 0);
  return PerToken(NanosF(time) / static_cast<double>(Count(tokens)));
}
constexpr PerStep operator/(Nanos time, Steps steps) {
  CULPRIT_CHECK(Count(steps) > 0);
  return PerStep(NanosF(time) / static_cast<double>(Count(steps)));
}

// Fraction is a share of a whole, 1 being all of it; signed where a share of a change is meant.
// It becomes percent only in base/number_format.
class Fraction {
 public:
  constexpr explicit Fraction(double value) : value_(value) {}
  [[nodiscard]] constexpr double value() const { return value_; }
  constexpr auto operator<=>(const Fraction&) const = default;

 private:
  double value_;
};

}  // namespace culprit::base
