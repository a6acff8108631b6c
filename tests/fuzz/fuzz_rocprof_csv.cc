#include <cstddef>
#include <cstdint>
#include <string>

#include "read_and_check.h"
#include "trace/rocprof_csv/rocprof_csv.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace culprit;  // NOLINT(google-build-using-namespace)
  trace::ReadAndCheck(
      trace::rocprof_csv::kReader,
      sys::Source::FromMemory("fuzz.csv", {reinterpret_cast<const char*>(data), size}));
  return 0;
}
