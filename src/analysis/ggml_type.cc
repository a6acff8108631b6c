#include "analysis/ggml_type.h"

#include <fmt/format.h>

#include <array>

namespace culprit::analysis {
namespace {

// Indexed by number; empty where upstream has removed the type. 42 is left out on purpose: ggml
// 0.27 and two forks give it to different types.
constexpr std::array<std::string_view, 42> kNames = {
    "F32",     "F16",   "Q4_0",   "Q4_1",  "",      "",       "Q5_0", "Q5_1",    "Q8_0",
    "Q8_1",    "Q2_K",  "Q3_K",   "Q4_K",  "Q5_K",  "Q6_K",   "Q8_K", "IQ2_XXS", "IQ2_XS",
    "IQ3_XXS", "IQ1_S", "IQ4_NL", "IQ3_S", "IQ2_S", "IQ4_XS", "I8",   "I16",     "I32",
    "I64",     "F64",   "IQ1_M",  "BF16",  "",      "",       "",     "TQ1_0",   "TQ2_0",
    "",        "",      "",       "MXFP4", "NVFP4", "Q1_0"};

}  // namespace

std::string GgmlTypeName(int number) {
  if (number >= 0 && static_cast<std::size_t>(number) < kNames.size()) {
    const std::string_view name = kNames[static_cast<std::size_t>(number)];
    if (!name.empty()) return std::string(name);
  }
  return fmt::format("type {}", number);
}

std::optional<int> GgmlTypeNumber(std::string_view name) {
  if (name.empty()) return std::nullopt;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<int>(i);
  }
  return std::nullopt;
}

}  // namespace culprit::analysis
