#pragma once

#include <optional>
#include <string_view>

#include "analysis/kernel_name.h"

namespace culprit::analysis {

// ParseMangledName takes a name mangled by the Itanium C++ ABI (`_Z…`) apart, as far as a
// KernelName needs: the function's own name and its template arguments, never its parameters.
// Substitutions (S_, S1_) are stepped over and not expanded, so the work is linear. Returns
// nullopt when the text is not such a name or the name itself is not understood; arguments that
// are not understood end the list.
// Source: Itanium C++ ABI, section 5.1 "External names (a.k.a. mangling)".
std::optional<KernelName> ParseMangledName(std::string_view text);

}  // namespace culprit::analysis
