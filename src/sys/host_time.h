#pragma once

#include <string>

#include "base/units.h"

namespace culprit::sys {

// BoottimeNow is CLOCK_BOOTTIME, in which profilers stamp too: a client's times taken with it can
// be laid over a trace.
base::HostTime BoottimeNow();

// UtcNow is the wall clock in UTC, in strftime's words: ISO 8601 unless told otherwise.
std::string UtcNow(const char* format = "%Y-%m-%dT%H:%M:%SZ");

}  // namespace culprit::sys
