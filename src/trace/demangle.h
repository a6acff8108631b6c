#pragma once

#include <string>
#include <string_view>

namespace culprit::trace {

// Demangled returns the C++ name of a mangled one ("_Z3addPf" → "add(float*)", a suffix ".kd" is
// dropped), and any other text as it is: names that are not mangled, that the GNU demangler does
// not know, or whose C++ name would be absurdly long.
std::string Demangled(std::string_view name);

// WithoutSuffixes removes what profilers append to a kernel's name: ".kd", " [clone .kd]",
// " (.kd)".
std::string_view WithoutSuffixes(std::string_view name);

}  // namespace culprit::trace
