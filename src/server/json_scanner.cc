#include "server/json_scanner.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "base/parse_number.h"

namespace culprit::server {
namespace {

using base::Status;

constexpr std::size_t kLongestWord = 64;
constexpr std::size_t kDeepest = 100;
// How far ahead the end of a list is looked for: however a list is written, no byte is looked at
// more often than that.
constexpr std::size_t kNear = 256;

Status NoJson() {
  return base::Fail(base::ErrorCode::kServer, "llama-server answered with no JSON");
}

Status TooDeep() {
  return base::Fail(base::ErrorCode::kServer,
                    "llama-server answered with JSON that nests too deeply");
}

constexpr std::array<bool, 256> kScalar = [] {
  std::array<bool, 256> scalar{};
  for (const char c :
       std::string_view("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-+.")) {
    scalar[static_cast<unsigned char>(c)] = true;
  }
  return scalar;
}();

bool IsScalar(char c) { return kScalar[static_cast<unsigned char>(c)]; }

std::size_t ScalarSize(std::string_view bytes) {
  std::size_t size = 0;
  while (size < bytes.size() && IsScalar(bytes[size])) ++size;
  return size;
}

// Nearly every list that is skipped is one of integers. Without a way out, so that compilers make
// it one that looks at many bytes at once.
bool AreIntegers(std::string_view bytes) {
  int others = 0;
  for (const char c : bytes) {
    others |= static_cast<int>(c != ',') & static_cast<int>(c < '0' || c > '9');
  }
  return others == 0;
}

std::size_t ScalarsSize(std::string_view bytes) {
  std::size_t size = 0;
  while (size < bytes.size() && (IsScalar(bytes[size]) || bytes[size] == ',')) ++size;
  return size;
}

// Up to the quote or backslash; strings are so short here that a call to search them costs more.
std::size_t PlainSize(std::string_view bytes) {
  std::size_t size = 0;
  while (size < bytes.size() && bytes[size] != '"' && bytes[size] != '\\') ++size;
  return size;
}

// Half of the numbers are those of tokens.
std::optional<double> ParseScalar(std::string_view word) {
  constexpr std::size_t kExactDigits = 15;
  if (word.size() <= kExactDigits) {
    std::int64_t value = 0;
    std::size_t digits = 0;
    for (; digits < word.size() && word[digits] >= '0' && word[digits] <= '9'; ++digits) {
      value = value * 10 + (word[digits] - '0');
    }
    if (digits == word.size()) return static_cast<double>(value);
  }
  return base::ParseNumber<double>(word);
}

}  // namespace

Status JsonScanner::Feed(std::string_view bytes) {
  while (!bytes.empty()) {
    if (in_string_) {
      bytes.remove_prefix(FeedString(bytes));
      continue;
    }
    if (ignored_ != 0 && ignored_ == open_.size()) {
      SkipScalars(bytes);
      if (bytes.empty()) break;
    } else if (scalar_open_) {
      const std::string_view part = bytes.substr(0, ScalarSize(bytes));
      bytes.remove_prefix(part.size());
      if (!FeedScalar(part, !bytes.empty())) return NoJson();
      continue;
    }
    if (!FeedStructure(bytes.front())) return too_deep_ ? TooDeep() : NoJson();
    bytes.remove_prefix(scalar_open_ ? 0 : 1);
  }
  return {};
}

// Takes what stands in an array that nobody asks for, up to the next bracket, string or blank.
void JsonScanner::SkipScalars(std::string_view& bytes) {
  const auto near = bytes.substr(0, kNear);
  const auto end = std::min(near.find(']'), near.size());
  const std::size_t size = AreIntegers(near.substr(0, end)) ? end : ScalarsSize(bytes);
  if (size == 0) return;
  expected_ = bytes[size - 1] == ',' ? Expected::kValue : Expected::kCommaOrClose;
  bytes.remove_prefix(size);
}

// A scalar that is whole in its piece, as nearly all are, is not copied.
bool JsonScanner::FeedScalar(std::string_view part, bool ends) {
  if (word_.size() + part.size() > kLongestWord) return false;
  if (ends && word_.empty()) return EndScalar(part);
  word_ += part;
  return !ends || EndScalar(word_);
}

// Takes bytes up to the end of the string, or all of them.
std::size_t JsonScanner::FeedString(std::string_view bytes) {
  const std::size_t stop = escaped_ ? 0 : PlainSize(bytes);
  const char c = stop < bytes.size() ? bytes[stop] : '\0';
  if (is_key_ && c == '"' && !escaped_ && word_.empty()) {
    EndKey(bytes.substr(0, std::min(stop, kLongestWord)));
    return stop + 1;
  }
  if (is_key_) word_ += bytes.substr(0, std::min(stop, kLongestWord - word_.size()));
  if (stop == bytes.size()) return stop;
  if (escaped_ || c == '\\') {
    if (is_key_ && word_.size() < kLongestWord) word_ += c;
    escaped_ = !escaped_;
    return stop + 1;
  }
  if (is_key_) {
    EndKey(word_);
  } else {
    in_string_ = false;
    EndValue();
  }
  return stop + 1;
}

void JsonScanner::EndKey(std::string_view key) {
  in_string_ = false;
  handler_.Key(key);
  expected_ = Expected::kColon;
}

bool JsonScanner::FeedStructure(char c) {
  switch (c) {
    case ' ':
    case '\t':
    case '\r':
    case '\n':
      return true;
    case '{':
    case '[':
      return OpenBracket(c);
    case '}':
    case ']':
      return CloseBracket(c);
    case '"':
      return BeginString();
    case ':':
      if (expected_ != Expected::kColon) return false;
      expected_ = Expected::kValue;
      return true;
    case ',':
      if (expected_ != Expected::kCommaOrClose) return false;
      expected_ = open_.back() == '{' ? Expected::kKey : Expected::kValue;
      return true;
    default:
      if (!IsScalar(c)) return false;
      if (expected_ != Expected::kValue && expected_ != Expected::kValueOrClose) return false;
      scalar_open_ = true;
      word_.clear();
      return true;
  }
}

bool JsonScanner::OpenBracket(char c) {
  if (expected_ != Expected::kValue && expected_ != Expected::kValueOrClose) return false;
  too_deep_ = open_.size() == kDeepest;
  if (too_deep_) return false;
  open_ += c;
  expected_ = c == '{' ? Expected::kKeyOrClose : Expected::kValueOrClose;
  if (!handler_.Open(c) && c == '[') ignored_ = open_.size();
  return true;
}

bool JsonScanner::CloseBracket(char c) {
  const bool empty = expected_ == (c == '}' ? Expected::kKeyOrClose : Expected::kValueOrClose);
  if (!empty && expected_ != Expected::kCommaOrClose) return false;
  if (open_.empty() || open_.back() != (c == '}' ? '{' : '[')) return false;
  if (ignored_ == open_.size()) ignored_ = 0;
  open_.pop_back();
  handler_.Close();
  EndValue();
  return true;
}

bool JsonScanner::BeginString() {
  is_key_ = expected_ == Expected::kKey || expected_ == Expected::kKeyOrClose;
  const bool value = expected_ == Expected::kValue || expected_ == Expected::kValueOrClose;
  if (!is_key_ && !value) return false;
  in_string_ = true;
  word_.clear();
  return true;
}

bool JsonScanner::EndScalar(std::string_view word) {
  scalar_open_ = false;
  if (const auto number = ParseScalar(word)) {
    handler_.Number(*number);
  } else if (word == "true" || word == "false" || word == "null") {
    handler_.Literal(word);
  } else {
    return false;
  }
  EndValue();
  return true;
}

void JsonScanner::EndValue() {
  expected_ = open_.empty() ? Expected::kNothing : Expected::kCommaOrClose;
}

}  // namespace culprit::server
