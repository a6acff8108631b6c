#include "gpu/usage.h"

#include <algorithm>
#include <set>

namespace culprit::gpu {
namespace {

using base::HostTime;
using base::NanosF;

// RangeOf summarizes one field; get returns it as an optional.
template <typename Get>
auto RangeOf(std::span<const Sample> samples, Get get) {
  using Value = typename decltype(get(samples.front()))::value_type;
  double sum = 0;
  double count = 0;
  std::optional<Range<Value>> range;
  for (const Sample& sample : samples) {
    const std::optional<Value> value = get(sample);
    if (!value) continue;
    if (!range) range = Range<Value>{*value, *value, *value};
    range->min = std::min(range->min, *value);
    range->max = std::max(range->max, *value);
    sum += value->value();
    ++count;
  }
  if (range) range->mean = Value(sum / count);
  return range;
}

struct PowerAt {
  HostTime time;
  double watts;
};

// Between is the power at an instant between two measured ones.
double Between(const PowerAt& a, const PowerAt& b, HostTime time) {
  const double share = NanosF(time - a.time) / NanosF(b.time - a.time);
  return a.watts + (b.watts - a.watts) * share;
}

std::optional<Joules> Energy(std::span<const Sample> samples, HostTime begin, HostTime end) {
  std::vector<PowerAt> powers;
  for (const Sample& sample : samples) {
    if (sample.device.power) powers.push_back({sample.device.time, sample.device.power->value()});
  }
  if (powers.empty() || powers.front().time > begin || powers.back().time < end) return {};
  Joules energy(0);
  for (std::size_t i = 1; i < powers.size(); ++i) {
    const PowerAt& a = powers[i - 1];
    const PowerAt& b = powers[i];
    const HostTime from = std::max(a.time, begin);
    const HostTime to = std::min(b.time, end);
    if (from >= to) continue;
    const Watts mean((Between(a, b, from) + Between(a, b, to)) / 2);
    energy = energy + mean * (to - from);
  }
  return energy;
}

std::optional<std::vector<std::string>> Throttle(std::span<const Sample> samples) {
  bool known = false;
  std::set<std::string> seen;
  for (const Sample& sample : samples) {
    if (!sample.device.throttle) continue;
    known = true;
    seen.insert(sample.device.throttle->begin(), sample.device.throttle->end());
  }
  if (!known) return std::nullopt;
  return std::vector<std::string>(seen.begin(), seen.end());
}

}  // namespace

Usage Summarize(std::span<const Sample> samples, HostTime begin, HostTime end) {
  const auto earlier = [](const Sample& sample, HostTime time) {
    return sample.device.time < time;
  };
  const auto first = std::lower_bound(samples.begin(), samples.end(), begin, earlier);
  const auto last = std::lower_bound(first, samples.end(), end, earlier);
  const std::span<const Sample> inside(first, last);
  return {
      .samples = inside.size(),
      .busy = RangeOf(inside, [](const Sample& s) { return s.device.busy; }),
      .temperature = RangeOf(inside, [](const Sample& s) { return s.device.temperature; }),
      .power = RangeOf(inside, [](const Sample& s) { return s.device.power; }),
      .core_clock = RangeOf(inside, [](const Sample& s) { return s.device.core_clock; }),
      .memory_clock = RangeOf(inside, [](const Sample& s) { return s.device.memory_clock; }),
      .memory_used = RangeOf(inside, [](const Sample& s) { return s.device.memory_used; }),
      .server = RangeOf(inside, [](const Sample& s) { return s.server; }),
      .energy = Energy(samples, begin, end),
      .throttle = Throttle(inside),
  };
}

}  // namespace culprit::gpu
