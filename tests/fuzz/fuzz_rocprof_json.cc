#include <cstddef>
#include <cstdint>
#include <string>

#include "trace/rocprof_json/rocprof_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto source = culprit::sys::Source::FromMemory(
      "fuzz", std::string(reinterpret_cast<const char*>(data), size));
  static_cast<void>(culprit::trace::rocprof_json::Sniff(source));
  static_cast<void>(culprit::trace::rocprof_json::Read(source, {}));
  return 0;
}
