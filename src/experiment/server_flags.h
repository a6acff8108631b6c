#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace culprit::experiment {

// FlagValues are the values that a flag has in a server's arguments, in order: of "--flag value"
// and of "--flag=value". A flag at the very end has the value "".
std::vector<std::string> FlagValues(std::span<const std::string> arguments, std::string_view flag);

// UsesAny tells whether any of the flags is there.
bool UsesAny(std::span<const std::string> arguments, std::span<const std::string_view> flags);

}  // namespace culprit::experiment
