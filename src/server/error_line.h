#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace culprit::server {

// WithoutPrefix is a line of a llama-server log without the time and level that builds since 0.7.0
// put in front.
std::string_view WithoutPrefix(std::string_view line);

// FirstErrorLine is the line of a log that tells why a server left: the first of a crash (a failed
// assertion, a GPU's error, an exception); else the first of level E or of a refusal (a model that
// did not load, a wrong argument, a port that was taken); else the first that complains at all.
// Printable, without its prefix, at most 300 characters; absent when nothing complains.
std::optional<std::string> FirstErrorLine(std::string_view log);

}  // namespace culprit::server
