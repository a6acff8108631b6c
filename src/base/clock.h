#pragma once

#include <string_view>

namespace culprit::base {

// NamedClock says what instant 0 of a file's time stamps is. Times of two files can be compared
// only when both name the same clock.
enum class NamedClock { kUnknown, kBoottime, kRealtime, kMonotonic, kSession };

// Name is the POSIX name where there is one: "CLOCK_BOOTTIME".
std::string_view Name(NamedClock clock);

}  // namespace culprit::base
