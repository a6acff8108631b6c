#pragma once

#include "base/units.h"

namespace culprit::sys {

// BoottimeNow is CLOCK_BOOTTIME, in which profilers stamp too: a client's times taken with it can
// be laid over a trace.
base::HostTime BoottimeNow();

}  // namespace culprit::sys
