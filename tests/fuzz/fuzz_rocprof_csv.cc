// Any bytes: the reader returns a trace or an error. Both laws of a Trace hold.
#include <cstdint>
#include <string>

#include "base/check.h"
#include "trace/rocprof_csv/rocprof_csv.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace culprit;  // NOLINT(google-build-using-namespace)
  const auto source =
      sys::Source::FromMemory("fuzz.csv", std::string(reinterpret_cast<const char*>(data), size));
  static_cast<void>(trace::rocprof_csv::Sniff(source));
  const auto trace = trace::rocprof_csv::Read(source, {});
  for (std::size_t i = 0; trace && i < trace->size(); ++i) {
    CULPRIT_CHECK(trace->end[i] >= trace->start[i]);
    CULPRIT_CHECK(i == 0 || trace->start[i] >= trace->start[i - 1]);
    CULPRIT_CHECK(trace->kernel[i].index() < trace->kernels.size());
    CULPRIT_CHECK(trace->lane[i].index() < trace->lanes.size());
  }
  return 0;
}
