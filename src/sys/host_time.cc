#include "sys/host_time.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>

#include "base/check.h"

namespace culprit::sys {

base::HostTime BoottimeNow() {
  timespec now{};
  CULPRIT_CHECK(::clock_gettime(CLOCK_BOOTTIME, &now) == 0);
  return base::HostTime(std::chrono::seconds(now.tv_sec) + base::Nanos(now.tv_nsec));
}

std::string UtcNow(const char* format) {
  return fmt::format(fmt::runtime(fmt::format("{{:{}}}", format)), fmt::gmtime(std::time(nullptr)));
}

}  // namespace culprit::sys
