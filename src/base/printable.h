#pragma once

#include <string>
#include <string_view>

namespace culprit::base {

// Printable returns text that came from elsewhere (a kernel name, a path, a log line) as valid
// UTF-8 without control characters: bytes of a broken sequence become U+FFFD, control characters
// (C0, C1, DEL) and the marks that turn the direction of text are written as \xNN or \u{NNNN}. No
// output of it can move a cursor, change a colour or end a line.
std::string Printable(std::string_view text);

// Shortened returns at most max_columns characters of printable text, the middle replaced by "…":
// both ends tell kernels apart, the first 18 columns before all. A code point is one column.
std::string Shortened(std::string_view printable, std::size_t max_columns);

// Columns counts the code points of valid UTF-8.
std::size_t Columns(std::string_view printable);

}  // namespace culprit::base
