#include "report/markdown_text.h"

#include <algorithm>

namespace culprit::report {
namespace {

bool WordCharacter(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool EndsInWww(std::string_view text) {
  if (text.size() < 3) return false;
  return text.substr(text.size() - 3).find_first_not_of("wW") == std::string_view::npos;
}

// Always returns what a character becomes wherever it stands; "" for those that stay. Entities are
// never structure (CommonMark 2.5); a backslash before "|" would depend on those in front of it.
std::string_view Always(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '|':
      return "&#124;";
    case '\\':
      return "&#92;";
    case '`':
      return "&#96;";
    case '*':
      return "\\*";
    case '[':
      return "\\[";
    case ']':
      return "\\]";
    case '~':
      return "\\~";
    case '#':
      return "#&#8203;";
    case '$':  // GitHub's formulas, and its documented way out of them
      return "<span>$</span>";
    case '\n':
    case '\r':
    case '\t':
      return " ";
    default:
      return "";
  }
}

// Escaped returns what character `at` of text becomes. Mentions and issue references are looked for
// in the finished page, where entities are read: only a zero-width space parts them.
std::string_view Escaped(std::string_view text, std::size_t at) {
  const char before = at > 0 ? text[at - 1] : ' ';
  const char after = at + 1 < text.size() ? text[at + 1] : ' ';
  switch (text[at]) {
    case '_':  // inside a word it is harmless: mul_mat_vec_q
      return WordCharacter(before) && WordCharacter(after) ? "_" : "\\_";
    case '@':
      return WordCharacter(after) ? "@&#8203;" : "@";
    case ':':  // http://, and the workflow command ::error::
      if (after == '/') return ":&#8203;";
      return after == ':' && !WordCharacter(before) ? "\\:" : ":";
    case '.':  // www. begins a link, and is looked for before entities are read
      return EndsInWww(text.substr(0, at)) ? "&#46;" : ".";
    default:
      const std::string_view always = Always(text[at]);
      return always.empty() ? text.substr(at, 1) : always;
  }
}

// LeadingMark returns the position of the character that would make the start of a line a list or
// a rule: 2 in "12. text", 0 in "- text" and "---"; else npos.
std::size_t LeadingMark(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits == text.size()) return std::string_view::npos;
  const char mark = text[digits];
  const char after = digits + 1 < text.size() ? text[digits + 1] : ' ';
  const std::string_view marks = digits > 0 ? ".)" : "-+=";
  const bool begins = marks.find(mark) != std::string_view::npos && (after == ' ' || after == mark);
  return begins ? digits : std::string_view::npos;
}

}  // namespace

std::string MarkdownText(std::string_view printable) {
  printable.remove_prefix(std::min(printable.find_first_not_of(' '), printable.size()));
  printable = printable.substr(0, printable.find_last_not_of(' ') + 1);
  const std::size_t mark = LeadingMark(printable);
  std::string out;
  out.reserve(printable.size() + printable.size() / 8);
  for (std::size_t i = 0; i < printable.size(); ++i) {
    if (i == mark) out += '\\';
    out += Escaped(printable, i);
  }
  return out;
}

std::string MarkdownCode(std::string_view printable) {
  if (printable.empty()) return "";
  // Between backticks nothing is escaped, but a cell ends at "|" even there, and GitHub's runner
  // obeys "##[" anywhere in a log.
  const bool plain = printable.find_first_of("`|\r\n") == std::string_view::npos &&
                     printable.find("##[") == std::string_view::npos;
  if (plain) return "`" + std::string(printable) + "`";
  return "<code>" + MarkdownText(printable) + "</code>";
}

std::string MarkdownBold(std::string_view escaped) {
  return escaped.empty() ? "" : "**" + std::string(escaped) + "**";
}

}  // namespace culprit::report
