#include <cstddef>
#include <cstdint>
#include <string>

#include "read_and_check.h"
#include "trace/chrome/chrome.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace culprit;  // NOLINT(google-build-using-namespace)
  trace::ReadAndCheck(
      trace::chrome::kReader,
      sys::Source::FromMemory("fuzz.json", {reinterpret_cast<const char*>(data), size}));
  return 0;
}
