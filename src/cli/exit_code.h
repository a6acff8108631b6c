#pragma once

#include "base/result.h"

namespace culprit::cli {

// ExitCode is what the program ends with; scripts rely on it. See README, "Exit codes".
enum class ExitCode {
  kDone = 0,
  kRegression = 1,     // only with --fail-on
  kUsage = 2,          // command line or configuration
  kInvalid = 3,        // the comparison is invalid or incomplete
  kGateFailed = 4,     // the correctness gate failed
  kEnvironment = 5,    // no such file, no permission, no GPU, busy
  kCannotTell = 125,   // only with --bisect: git skips this build
  kStopBisect = 128,   // only with --bisect: git ends the bisection
  kInterrupted = 130,  // after restoring
};

// ExitCodeFor is where an error leads.
ExitCode ExitCodeFor(base::ErrorCode code);

}  // namespace culprit::cli
