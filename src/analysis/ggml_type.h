#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace culprit::analysis {

// GgmlTypeName is the name of a tensor type of ggml by its number: "Q4_K" for 12. Numbers that
// upstream never used, or that forks use for types of their own, are "type 142".
// Source: enum ggml_type in ggml.h, and the numbers seen in profiles.
std::string GgmlTypeName(int number);

// GgmlTypeNumber is the way back, upper case as ggml writes it; nullopt for any other word.
std::optional<int> GgmlTypeNumber(std::string_view name);

}  // namespace culprit::analysis
