#include "base/toml_depth.h"

#include <algorithm>
#include <vector>

namespace culprit::base {
namespace {

// How long a string is, with its quotes: "a\"b", 'a', """a""", '''a'''. One that does not end takes
// its line, or everything.
std::size_t StringLength(std::string_view text) {
  const char quote = text[0];
  const bool escapes = quote == '"';
  const bool long_one = text.size() >= 3 && text[1] == quote && text[2] == quote;
  for (std::size_t i = long_one ? 3 : 1; i < text.size(); ++i) {
    if (escapes && text[i] == '\\') {
      ++i;
    } else if (!long_one && text[i] == '\n') {
      return i;
    } else if (!long_one && text[i] == quote) {
      return i + 1;
    } else if (long_one && text.substr(i).starts_with(text.substr(0, 3))) {
      // """a""""" ends in two quotes of its own.
      const std::size_t own = std::min(text.size(), text.find_first_not_of(quote, i)) - i;
      return i + std::min<std::size_t>(own, 5);
    }
  }
  return text.size();
}

}  // namespace

std::optional<std::size_t> LineDeeperThan(std::size_t limit, std::string_view toml) {
  std::size_t line = 1, outside = 0, dots = 0;  // levels outside the innermost bracket, and in it
  std::vector<std::size_t> open;                // what outside was before each open bracket
  while (!toml.empty()) {
    std::size_t length = 1;
    const char c = toml[0];
    if (c == '"' || c == '\'') {
      length = StringLength(toml);
    } else if (c == '#') {
      length = std::min(toml.size(), toml.find('\n'));
    } else if (c == '[' || c == '{') {
      open.push_back(outside);
      outside += dots + 1;
      dots = 0;
    } else if ((c == ']' || c == '}') && !open.empty()) {
      dots = 0;
      outside = open.back();
      open.pop_back();
    } else if (c == ',' || c == '\n') {
      dots = 0;
    } else if (c == '.') {
      ++dots;
    }
    if (outside + dots > limit) return line;
    const auto taken = toml.substr(0, length);
    line += static_cast<std::size_t>(std::count(taken.begin(), taken.end(), '\n'));
    toml.remove_prefix(length);
  }
  return std::nullopt;
}

}  // namespace culprit::base
