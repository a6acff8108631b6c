#pragma once

#include "cli/exit_code.h"
#include "host/restore.h"

namespace culprit::cli {

// PrintRestored writes to stderr what putting the machine back came to, and returns the exit code
// it leads to: kEnvironment, loudly, when the machine is not as it was.
ExitCode PrintRestored(const host::RestoreReport& report);

}  // namespace culprit::cli
