#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/units.h"
#include "gpu/sampler.h"

namespace culprit::gpu {

// Range is what the samples of a stretch said of one field.
template <typename Value>
struct Range {
  Value mean;  // of the samples, which are evenly spaced
  Value min;
  Value max;
  bool operator==(const Range&) const = default;
};

// Usage is what a device did in a stretch of time. A field that no sample had is absent.
//
// energy is the integral of power over the whole stretch, by trapezoids, and absent unless samples
// with a power reach from one end to the other. For comparing arms only: sensors filter power over
// up to a second, and an APU's is the whole package's.
// throttle has every reason seen, sorted; present and empty when samples said that there was none.
struct Usage {
  std::size_t samples = 0;
  std::optional<Range<base::Fraction>> busy;
  std::optional<Range<Celsius>> temperature;
  std::optional<Range<Watts>> power;
  std::optional<Range<Megahertz>> core_clock;
  std::optional<Range<Megahertz>> memory_clock;
  std::optional<Range<Bytes>> memory_used;
  std::optional<Range<Cores>> server;
  std::optional<Joules> energy;
  std::optional<std::vector<std::string>> throttle;
  bool operator==(const Usage&) const = default;
};

// Summarize looks at the samples of [begin, end); they are in order of time, as from Sampler::Stop.
// A sample just behind begin may tell, in fields that are counted, of the time just before it.
Usage Summarize(std::span<const Sample> samples, base::HostTime begin, base::HostTime end);

}  // namespace culprit::gpu
