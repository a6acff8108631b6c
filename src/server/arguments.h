#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace culprit::server {

// SplitArguments splits the words of a command line as a shell does, with '…', "…" and \, and
// expands nothing: no variable, no ~, no *, no `command`; ; | & > are letters like others. '' is an
// empty word. Fails with kUsage on a quote that is not closed and on a backslash at the end.
base::Result<std::vector<std::string>> SplitArguments(std::string_view text);

}  // namespace culprit::server
