#include <cstddef>
#include <cstdint>
#include <string>

#include "trace/chrome/chrome.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto source = culprit::sys::Source::FromMemory(
      "fuzz", std::string(reinterpret_cast<const char*>(data), size));
  static_cast<void>(culprit::trace::chrome::Sniff(source));
  static_cast<void>(culprit::trace::chrome::Read(source, {}));
  return 0;
}
