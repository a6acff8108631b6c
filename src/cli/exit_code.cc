#include "cli/exit_code.h"

namespace culprit::cli {

ExitCode ExitCodeFor(base::ErrorCode code) {
  using enum base::ErrorCode;
  switch (code) {
    case kUsage:
      return ExitCode::kUsage;
    case kNotFound:
    case kUnreadable:
    case kEnvironment:
    case kTimeout:
    case kNotRestored:
      return ExitCode::kEnvironment;
    case kNotATrace:
    case kUnsupportedTrace:
    case kDamagedTrace:
    case kBadRequest:
    case kNoWindow:
    case kIncomplete:
    case kMismatch:
    case kServer:
      return ExitCode::kInvalid;
    case kInterrupted:
      return ExitCode::kInterrupted;
  }
  return ExitCode::kInvalid;
}

}  // namespace culprit::cli
