#include "base/clock.h"

namespace culprit::base {

std::string_view Name(NamedClock clock) {
  switch (clock) {
    case NamedClock::kUnknown:
      return "an unknown clock";
    case NamedClock::kBoottime:
      return "CLOCK_BOOTTIME";
    case NamedClock::kRealtime:
      return "CLOCK_REALTIME";
    case NamedClock::kMonotonic:
      return "CLOCK_MONOTONIC";
    case NamedClock::kSession:
      return "the profiler's session clock";
  }
  return "an unknown clock";
}

}  // namespace culprit::base
