// CULPRIT_CHECK aborts when the program itself is wrong. Bad input is never a reason to call it.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace culprit::base {

[[noreturn]] inline void CheckFailed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "culprit: internal error: %s does not hold (%s:%d)\n", condition, file,
               line);
  std::abort();
}

}  // namespace culprit::base

#define CULPRIT_CHECK(condition)      \
  ((condition) ? static_cast<void>(0) \
               : ::culprit::base::CheckFailed(#condition, __FILE__, __LINE__))
