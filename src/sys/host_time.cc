#include "sys/host_time.h"

#include <ctime>

#include "base/check.h"

namespace culprit::sys {

base::HostTime BoottimeNow() {
  timespec now{};
  CULPRIT_CHECK(::clock_gettime(CLOCK_BOOTTIME, &now) == 0);
  return base::HostTime(std::chrono::seconds(now.tv_sec) + base::Nanos(now.tv_nsec));
}

}  // namespace culprit::sys
