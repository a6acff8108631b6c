#pragma once

namespace culprit::stats {

// Interval is a confidence interval, at 95 % where nothing else is said; low <= high.
struct Interval {
  double low;
  double high;
  bool operator==(const Interval&) const = default;
};

}  // namespace culprit::stats
