#include <cstddef>
#include <cstdint>
#include <string>

#include "base/check.h"
#include "trace/rocprof_counters/rocprof_counters.h"

// A set that is made keeps its promises, with a window and without.
static void Check(const culprit::trace::CounterSet& set) {
  std::int64_t launches = 0;
  for (const auto& kernel : set.kernels) {
    launches += kernel.launches;
    CULPRIT_CHECK(kernel.launches > 0);
    for (const auto& [counter, sum] : kernel.counters) {
      CULPRIT_CHECK(counter.index() < set.counters.size());
      CULPRIT_CHECK(sum.count > 0 && sum.count <= kernel.launches);
      CULPRIT_CHECK(sum.mean().value() >= 0);
    }
  }
  CULPRIT_CHECK(launches == set.launches && launches > 0);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace culprit;  // NOLINT(google-build-using-namespace)
  const auto source =
      sys::Source::FromMemory("fuzz.csv", {reinterpret_cast<const char*>(data), size});
  const base::HostTime middle(base::Nanos(342'343'619'450'000));
  for (const auto& window : {std::optional<trace::CountWindow>(),
                             std::optional(trace::CountWindow{base::HostTime(), middle})}) {
    if (const auto set = trace::rocprof_counters::Read(source, window)) Check(*set);
  }
  return 0;
}
