#pragma once

#include <string>

#include "experiment/trial_record.h"
#include "server/client.h"
#include "server/log.h"

namespace culprit::lab {

// FactsOf collects what a server says of itself, in its answer to /props and in its log. What it
// does not say is not there. A value has at most 1,000 bytes.
experiment::Facts FactsOf(const server::Props& props, const server::ServerLog& log);

// Matches tells whether a line of a log matches a regular expression. Lines are cut after 4 KiB,
// because the library's matcher recurses for each character.
bool Matches(const std::string& log, const std::string& pattern);

}  // namespace culprit::lab
