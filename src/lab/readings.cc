#include "lab/readings.h"

namespace culprit::lab {
namespace {

using experiment::Readings;
using experiment::Spread;

template <typename Value>
void Set(Readings& readings, const char* key, const std::optional<gpu::Range<Value>>& range,
         double unit = 1) {
  if (!range) return;
  readings.values[key] = Spread{.mean = range->mean.value() * unit,
                                .min = range->min.value() * unit,
                                .max = range->max.value() * unit};
}

template <typename Value>
void Set(Readings& readings, const char* key, const std::optional<Value>& value, double unit = 1) {
  if (!value) return;
  const double number = value->value() * unit;
  readings.values[key] = Spread{.mean = number, .min = number, .max = number};
}

constexpr double kMebi = 1.0 / (1 << 20);

// A Usage and a Reading have the same fields, one as ranges and the other as values.
template <typename Source>
Readings Write(const Source& source) {
  Readings readings;
  Set(readings, "busy_share", source.busy);
  Set(readings, "temperature_c", source.temperature);
  Set(readings, "power_w", source.power);
  Set(readings, "core_clock_mhz", source.core_clock);
  Set(readings, "memory_clock_mhz", source.memory_clock);
  Set(readings, "memory_used_mib", source.memory_used, kMebi);
  readings.throttled = source.throttle;
  return readings;
}

}  // namespace

Readings ReadingsOf(const gpu::Usage& usage) {
  Readings readings = Write(usage);
  Set(readings, "server_cpu_cores", usage.server);
  return readings;
}

Readings ReadingsOf(const gpu::Reading& reading) { return Write(reading); }

}  // namespace culprit::lab
