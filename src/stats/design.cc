#include "stats/design.h"

#include <algorithm>

#include "base/check.h"

namespace culprit::stats {

Design Design::Sequential(std::size_t cap) {
  CULPRIT_CHECK(cap >= 3);
  if (cap == 3) return {{3}, 0.012};
  std::vector<std::size_t> looks;
  for (const std::size_t look : {4u, 6u, 8u, 10u}) {
    if (look <= cap) looks.push_back(look);
  }
  return {std::move(looks), 0.018};
}

Design Design::Fixed(std::size_t pairs) {
  CULPRIT_CHECK(pairs >= 1);
  return {{pairs}, 0.05};
}

bool Design::IsLook(std::size_t pairs) const {
  return pairs > cap() || std::find(looks_.begin(), looks_.end(), pairs) != looks_.end();
}

}  // namespace culprit::stats
