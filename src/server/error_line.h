#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace culprit::server {

// WithoutPrefix is a line of a llama-server log without the time and level that builds since 0.7.0
// put in front.
std::string_view WithoutPrefix(std::string_view line);

// FirstErrorLine is the first line of a log that tells why a server left: a failed assertion, a
// GPU's error, a model that did not load, a wrong argument, a port that was taken, an exception.
// Without one of those, the first line that calls itself an error. Printable, without its prefix,
// at most 300 characters; absent when nothing complains.
std::optional<std::string> FirstErrorLine(std::string_view log);

}  // namespace culprit::server
