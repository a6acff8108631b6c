// Units of what a device says of itself.
#pragma once

#include <compare>

#include "base/units.h"

namespace culprit::gpu {

// Quantity is a measured value of one unit; values of different units do not mix.
template <typename Unit>
class Quantity {
 public:
  constexpr explicit Quantity(double value) : value_(value) {}
  [[nodiscard]] constexpr double value() const { return value_; }
  constexpr Quantity operator+(Quantity other) const { return Quantity(value_ + other.value_); }
  constexpr Quantity operator-(Quantity other) const { return Quantity(value_ - other.value_); }
  constexpr auto operator<=>(const Quantity&) const = default;

 private:
  double value_;
};

using Celsius = Quantity<struct CelsiusUnit>;
using Watts = Quantity<struct WattsUnit>;
using Joules = Quantity<struct JoulesUnit>;
using Megahertz = Quantity<struct MegahertzUnit>;
using Bytes = Quantity<struct BytesUnit>;  // exact up to 8 PiB
using Cores = Quantity<struct CoresUnit>;  // CPU time per wall time: 2.5 is two and a half cores

constexpr Joules operator*(Watts power, base::Nanos time) {
  return Joules(power.value() * std::chrono::duration<double>(time).count());
}
constexpr Watts operator/(Joules energy, base::Nanos time) {
  return Watts(energy.value() / std::chrono::duration<double>(time).count());
}

}  // namespace culprit::gpu
