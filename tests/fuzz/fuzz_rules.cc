#include <cstddef>
#include <cstdint>
#include <string_view>

#include "analysis/classify.h"

// The bytes are a kernel name under the shipped rules, and a rules file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace culprit;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const analysis::Explanation explained =
      analysis::Explain(text, trace::WorkKind::kKernel, {}, analysis::ShippedRules());
  if (explained.outcomes.empty()) __builtin_trap();
  static_cast<void>(analysis::ParseRules("fuzz.toml", text));
  return 0;
}
