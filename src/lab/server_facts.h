#pragma once

#include <string>
#include <string_view>

#include "experiment/trial_record.h"
#include "server/client.h"
#include "server/log.h"
#include "sys/stop_signal.h"

namespace culprit::lab {

// FactsOf collects what a server says of itself, in its answer to /props and in its log. What it
// does not say is not there. A value has at most 1,000 bytes.
experiment::Facts FactsOf(const server::Props& props, const server::ServerLog& log);

// HasLine tells whether a pattern is in a line of a log. Lines are cut after 4 KiB, so that there
// is a look at stop between any two stretches of that length. Fails with kUsage or kInterrupted.
base::Result<bool> HasLine(std::string_view log, const std::string& pattern,
                           const sys::StopSignal& stop);

}  // namespace culprit::lab
