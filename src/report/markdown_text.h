#pragma once

#include <string>
#include <string_view>

namespace culprit::report {

// MarkdownText returns printable text that GitHub shows as it is, in a paragraph, a heading, a list
// item or a table cell: no HTML, emphasis, link, table border, mention, issue reference, formula or
// list. Never contains a newline. Where only a break inside a word helps, it is a zero-width space.
std::string MarkdownText(std::string_view printable);

// MarkdownCode returns a name as a code span that may also stand in a table cell; "" for "".
std::string MarkdownCode(std::string_view printable);

// MarkdownBold returns escaped text in bold; "" for "".
std::string MarkdownBold(std::string_view escaped);

}  // namespace culprit::report
