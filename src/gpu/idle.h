#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "gpu/processes.h"
#include "gpu/vendor.h"

namespace culprit::gpu {

struct IdleResult;

// Pace is the caller's clock and its way to wait. sleep returns false when the wait was
// interrupted and everything should end. busy, if there is one, is told of each reading that was
// not idle, with what is known until then.
struct Pace {
  std::function<base::HostTime()> now;
  std::function<bool(base::Nanos)> sleep;
  std::function<void(const IdleResult&)> busy = {};
};

// IdleRule is what a device has to show before a sample may start.
struct IdleRule {
  int readings = 10;  // consecutive ones that must be idle, at least 1
  int tries = 300;    // readings in all
  base::Nanos pause = std::chrono::seconds(1);
  base::Fraction busy{0};  // a reading with at most this is idle
  Celsius margin{2};       // the device may be this much warmer than at the first gate
};

// RuleFor allows a CPU a tenth of its time for others, a GPU nothing.
IdleRule RuleFor(Vendor vendor);

// IdleResult is how a wait for an idle device ended.
struct IdleResult {
  bool idle = false;          // the last `readings` readings were idle
  bool interrupted = false;   // the wait was cut short
  bool still_warm = false;    // idle, but not down to the first gate's temperature in time
  bool busy_unknown = false;  // the device never said how busy it is
  base::Nanos waited{};
  int readings = 0;                   // taken in all
  std::optional<Celsius> first_gate;  // what it had to cool down to, but for the margin
  std::optional<Celsius> temperature_at_start;
  std::optional<Celsius> temperature;  // of the last reading
  std::optional<base::Fraction> busy;  // of the last reading that was not idle
  std::vector<Process> holders;        // who had the device open at the end, also when idle
  [[nodiscard]] bool ready() const { return idle && !still_warm; }
};

// WaitUntilIdle reads the device until it has been idle for long enough and has cooled down to
// first_gate, the temperature at which the first sample of the experiment started (absent: there
// is no first sample yet). Colder than then is fine: waiting would not warm it.
//
// A reading that does not say how busy the device is counts as neither; ten of them before any
// that does end the wait. A device without a temperature has cooled down.
IdleResult WaitUntilIdle(Device& device, const IdleRule& rule, std::optional<Celsius> first_gate,
                         const Pace& pace, const std::string& proc = "/proc");

// Explain says why the device is not ready, in a sentence that names who holds it; empty when it
// is ready. On some APUs two idle processes show 100 % busy: then they are the ones to stop.
std::string Explain(const IdleResult& result);

}  // namespace culprit::gpu
