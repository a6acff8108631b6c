#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sys/process.h"

namespace culprit::sys {

// BinaryKind is what a file is to the loader. Only a dynamic binary names one (PT_INTERP): asking
// anything else to list its objects would run it.
enum class BinaryKind { kDynamic, kStatic, kNoElf };

// KindOf fails with kNotFound or kUnreadable. What is no ELF file of 64 bits is kNoElf: a script.
base::Result<BinaryKind> KindOf(const std::string& path);

// SharedObjects is what the loader gives a binary, in its order.
struct SharedObjects {
  std::vector<std::string> paths;
  std::vector<std::string> missing;  // names that the loader did not find
};

// AskLoader lists the shared objects that a dynamic binary would get in an environment; it is not
// run. Fails with kEnvironment when the loader refuses, kTimeout.
base::Result<SharedObjects> AskLoader(const std::string& binary, const Environment& environment);

// Exports tells whether other objects can bind to a function of this one. False for what is no
// 64-bit ELF file, or a damaged one.
bool Exports(const std::string& object, std::string_view function);

}  // namespace culprit::sys
