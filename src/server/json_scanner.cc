#include "server/json_scanner.h"

#include <algorithm>

#include "base/parse_number.h"

namespace culprit::server {
namespace {

using base::Status;

constexpr std::size_t kLongestWord = 64;
constexpr std::size_t kDeepest = 100;

Status NoJson() {
  return base::Fail(base::ErrorCode::kServer, "llama-server answered with no JSON");
}

bool IsScalar(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
         c == '+' || c == '.';
}

}  // namespace

Status JsonScanner::Feed(std::string_view bytes) {
  while (!bytes.empty()) {
    if (in_string_) {
      bytes.remove_prefix(FeedString(bytes));
      continue;
    }
    const char c = bytes.front();
    if (scalar_open_ && IsScalar(c)) {
      if (word_.size() == kLongestWord) return NoJson();
      word_ += c;
      bytes.remove_prefix(1);
      continue;
    }
    if (scalar_open_) {
      if (auto ended = EndScalar(); !ended) return ended;
    }
    if (auto fed = FeedStructure(c); !fed) return fed;
    bytes.remove_prefix(1);
  }
  return {};
}

// Takes bytes up to the end of the string, or all of them.
std::size_t JsonScanner::FeedString(std::string_view bytes) {
  const std::size_t stop = escaped_ ? 0 : std::min(bytes.find_first_of("\"\\"), bytes.size());
  if (is_key_) word_ += bytes.substr(0, std::min(stop, kLongestWord - word_.size()));
  if (stop == bytes.size()) return stop;
  const char c = bytes[stop];
  if (escaped_ || c == '\\') {
    if (is_key_ && word_.size() < kLongestWord) word_ += c;
    escaped_ = !escaped_;
    return stop + 1;
  }
  in_string_ = false;
  if (is_key_) {
    handler_.Key(word_);
    expected_ = Expected::kColon;
  } else {
    EndValue();
  }
  return stop + 1;
}

Status JsonScanner::FeedStructure(char c) {
  switch (c) {
    case ' ':
    case '\t':
    case '\r':
    case '\n':
      return {};
    case '{':
    case '[':
      return OpenBracket(c);
    case '}':
    case ']':
      return CloseBracket(c);
    case '"':
      return BeginString();
    case ':':
      if (expected_ != Expected::kColon) return NoJson();
      expected_ = Expected::kValue;
      return {};
    case ',':
      if (expected_ != Expected::kCommaOrClose) return NoJson();
      expected_ = open_.back() == '{' ? Expected::kKey : Expected::kValue;
      return {};
    default:
      if (!IsScalar(c)) return NoJson();
      if (expected_ != Expected::kValue && expected_ != Expected::kValueOrClose) return NoJson();
      scalar_open_ = true;
      word_ = c;
      return {};
  }
}

Status JsonScanner::OpenBracket(char c) {
  if (expected_ != Expected::kValue && expected_ != Expected::kValueOrClose) return NoJson();
  if (open_.size() == kDeepest) {
    return base::Fail(base::ErrorCode::kServer,
                      "llama-server answered with JSON that nests too deeply");
  }
  open_ += c;
  expected_ = c == '{' ? Expected::kKeyOrClose : Expected::kValueOrClose;
  handler_.Open(c);
  return {};
}

Status JsonScanner::CloseBracket(char c) {
  const bool empty = expected_ == (c == '}' ? Expected::kKeyOrClose : Expected::kValueOrClose);
  if (!empty && expected_ != Expected::kCommaOrClose) return NoJson();
  if (open_.empty() || open_.back() != (c == '}' ? '{' : '[')) return NoJson();
  open_.pop_back();
  handler_.Close();
  EndValue();
  return {};
}

Status JsonScanner::BeginString() {
  is_key_ = expected_ == Expected::kKey || expected_ == Expected::kKeyOrClose;
  const bool value = expected_ == Expected::kValue || expected_ == Expected::kValueOrClose;
  if (!is_key_ && !value) return NoJson();
  in_string_ = true;
  word_.clear();
  return {};
}

Status JsonScanner::EndScalar() {
  scalar_open_ = false;
  if (word_ == "true" || word_ == "false" || word_ == "null") {
    handler_.Literal(word_);
  } else {
    const auto number = base::ParseNumber<double>(word_);
    if (!number) return NoJson();
    handler_.Number(*number);
  }
  EndValue();
  return {};
}

void JsonScanner::EndValue() {
  expected_ = open_.empty() ? Expected::kNothing : Expected::kCommaOrClose;
}

}  // namespace culprit::server
