#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace culprit::experiment {

// SplitWords cuts a line into words as a shell would: at blanks, with 'single' and "double" quotes
// and backslashes. Nothing is expanded: $, *, ~ and ` are ordinary characters, since no shell ever
// sees them. Fails with kUsage on a quote that is not closed.
base::Result<std::vector<std::string>> SplitWords(std::string_view line);

// JoinWords is a line that SplitWords cuts into the same words, and a shell too.
std::string JoinWords(const std::vector<std::string>& words);
// AsWord is a line of this one word: a path as it is typed.
std::string AsWord(const std::string& text);

}  // namespace culprit::experiment
