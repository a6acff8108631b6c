#include "stats/random.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "base/check.h"

namespace culprit::stats {

std::uint64_t Random::Below(std::uint64_t limit) {
  CULPRIT_CHECK(limit > 0);
  // Bits beyond the last multiple of limit would favour the small numbers.
  const std::uint64_t beyond = std::numeric_limits<std::uint64_t>::max() / limit * limit;
  std::uint64_t bits = Bits();
  while (bits >= beyond) bits = Bits();
  return bits % limit;
}

// Box and Muller, A Note on the Generation of Random Normal Deviates, 1958.
double Random::Normal() {
  const double radius = std::sqrt(-2 * std::log(1 - Uniform()));
  return radius * std::cos(2 * std::numbers::pi * Uniform());
}

}  // namespace culprit::stats
