#pragma once

#include <cstdint>
#include <random>

namespace culprit::stats {

// Random draws numbers that follow from the seed alone: the engine is the standard's, and the
// distributions are our own, since each standard library draws its own way.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t Bits() { return engine_(); }
  bool Coin() { return (Bits() >> 63) != 0; }
  // Uniform lies in [0, 1).
  double Uniform() { return static_cast<double>(Bits() >> 11) * 0x1p-53; }
  // Below is any whole number below limit, which is positive, with the same chance.
  std::uint64_t Below(std::uint64_t limit);
  // Normal has mean 0 and standard deviation 1.
  double Normal();

 private:
  std::mt19937_64 engine_;
};

}  // namespace culprit::stats
