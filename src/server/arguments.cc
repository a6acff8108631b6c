#include "server/arguments.h"

#include <fmt/format.h>

#include <optional>

namespace culprit::server {

using base::ErrorCode;
using base::Fail;

namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Between double quotes a backslash hides only what has a meaning there.
bool BackslashHides(char quote, char next) {
  if (quote == '"') return next == '"' || next == '\\' || next == '$' || next == '`';
  return quote == '\0';
}

}  // namespace

base::Result<std::vector<std::string>> SplitArguments(std::string_view text) {
  std::vector<std::string> words;
  std::optional<std::string> word;  // absent between words
  char quote = '\0';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == '\0' && IsBlank(c)) {
      if (word) words.push_back(*std::exchange(word, std::nullopt));
      continue;
    }
    if (!word) word.emplace();
    if (c == quote) {
      quote = '\0';
    } else if (quote == '\0' && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == '\\' && quote != '\'') {
      if (++i == text.size()) return Fail(ErrorCode::kUsage, "a backslash ends the arguments");
      if (!BackslashHides(quote, text[i])) *word += c;
      *word += text[i];
    } else {
      *word += c;
    }
  }
  if (quote != '\0') return Fail(ErrorCode::kUsage, fmt::format("a {} is not closed", quote));
  if (word) words.push_back(*std::move(word));
  return words;
}

}  // namespace culprit::server
