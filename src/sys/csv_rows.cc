#include "sys/csv_rows.h"

#include <algorithm>
#include <cstring>

namespace culprit::sys {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{256} * 1024;
constexpr std::size_t kMaxRowBytes = std::size_t{1024} * 1024;

// A field and where it stops: at its comma or line end; null when the text ends first.
struct Parsed {
  CsvField field;
  const char* stop;
};

// Of ASCII, whatever the locale is.
char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string_view Between(const char* begin, const char* end) {
  return {begin, static_cast<std::size_t>(end - begin)};
}

Parsed ParseBare(const char* begin, const char* end) {
  const char* stop = std::find_if(begin, end, [](char c) { return c == ',' || c == '\n'; });
  if (stop == end) return {{}, nullptr};
  const bool crlf = *stop == '\n' && stop > begin && stop[-1] == '\r';
  return {{Between(begin, stop - (crlf ? 1 : 0))}, stop};
}

// begin is behind the opening quote.
Parsed ParseQuoted(const char* begin, const char* end) {
  bool has_pairs = false;
  for (const char* at = begin;;) {
    const auto* quote =
        static_cast<const char*>(std::memchr(at, '"', static_cast<std::size_t>(end - at)));
    if (quote == nullptr || end - quote < 2) return {{}, nullptr};
    const char next = quote[1];
    if (next == ',' || next == '\n') return {{Between(begin, quote), has_pairs}, quote + 1};
    if (next == '\r') {
      if (end - quote < 3) return {{}, nullptr};
      if (quote[2] == '\n') return {{Between(begin, quote), has_pairs}, quote + 2};
    }
    has_pairs |= next == '"';
    at = quote + (next == '"' ? 2 : 1);
  }
}

}  // namespace

std::size_t ParseCsvRow(std::string_view text, std::vector<CsvField>& fields) {
  fields.clear();
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at != end;) {
    const auto [field, stop] = *at == '"' ? ParseQuoted(at + 1, end) : ParseBare(at, end);
    if (stop == nullptr) break;
    fields.push_back(field);
    at = stop + 1;
    if (*stop == '\n') return static_cast<std::size_t>(at - text.data());
  }
  return 0;
}

bool SameName(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, Lower, Lower);
}

std::optional<std::size_t> FindColumn(std::span<const CsvField> header, std::string_view name) {
  const auto found = std::ranges::find_if(
      header, [name](const CsvField& field) { return SameName(field.text, name); });
  if (found == header.end()) return std::nullopt;
  return static_cast<std::size_t>(found - header.begin());
}

std::string_view WithoutByteOrderMark(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  return text;
}

CsvRows::CsvRows(ByteStream& stream) : stream_(stream), buffer_(kBufferBytes) {
  Fill();
  begin_ = end_ - WithoutByteOrderMark({buffer_.data(), end_}).size();
}

base::Result<CsvRows::State> CsvRows::Next() {
  for (;;) {
    const std::string_view rest(buffer_.data() + begin_, end_ - begin_);
    if (const std::size_t length = ParseCsvRow(rest, fields_); length > 0) {
      Consume(length);
      if (fields_.size() > 1 || !fields_[0].text.empty()) return State::kRow;
    } else if (ended_) {
      if (failure_) return base::Fail(*failure_);
      Consume(rest.size());
      return rest.empty() ? State::kEnd : State::kTorn;
    } else if (rest.size() >= kMaxRowBytes) {
      // All of it, not only its first line: else a file of `"x` lines would take quadratic time.
      Consume(rest.size());
      return State::kTooLong;
    } else {
      Fill();
    }
  }
}

void CsvRows::Consume(std::size_t bytes) {
  const char* const row = buffer_.data() + begin_;
  line_ = next_line_;
  next_line_ += std::count(row, row + bytes, '\n');
  begin_ += bytes;
}

// Fill makes room behind a row that was cut by the buffer's end, and reads until there is none.
void CsvRows::Fill() {
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  if (end_ > buffer_.size() / 2) buffer_.resize(buffer_.size() * 2);
  while (!ended_ && end_ < buffer_.size()) {
    auto n = stream_.Read(std::span(buffer_).subspan(end_));
    if (!n) failure_ = std::move(n.error());
    ended_ = !n || *n == 0;
    if (n) end_ += *n;
  }
}

}  // namespace culprit::sys
