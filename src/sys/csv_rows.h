#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sys/source.h"

namespace culprit::sys {

// CsvField is one value of a row, without the quotes around it. has_pairs: text holds "" for ".
struct CsvField {
  std::string_view text;
  bool has_pairs = false;
};

// ParseCsvRow splits the row at the front of text and returns its length, newline included; 0 when
// text ends before the row does. Fields point into text.
//
// Rows end in LF or CRLF. A quoted field may hold commas and newlines; a quote inside it that
// neither is doubled nor stands before a comma or a line end belongs to the value.
std::size_t ParseCsvRow(std::string_view text, std::vector<CsvField>& fields);

// SameName compares names of columns, ignoring case: "LDS_Block_Size" is "Lds_Block_Size".
bool SameName(std::string_view a, std::string_view b);
// FindColumn is where a header has a name, the first time; absent when it has not.
std::optional<std::size_t> FindColumn(std::span<const CsvField> header, std::string_view name);

// WithoutByteOrderMark removes the UTF-8 mark that spreadsheets put in front of a file.
std::string_view WithoutByteOrderMark(std::string_view text);

// CsvRows reads a stream row by row in one pass, in at most 2 MiB, without copying fields.
class CsvRows {
 public:
  // kTorn: the stream ended without a line end. kTooLong: no row ends within the next 1 MiB, as
  // after a quote that is never closed; it was skipped.
  enum class State { kRow, kTorn, kTooLong, kEnd };

  explicit CsvRows(ByteStream& stream);

  // Next moves to the next row that is not empty. Fails as the stream does, once all rows before
  // the failure were given.
  base::Result<State> Next();
  // fields of the current row, valid until Next.
  [[nodiscard]] std::span<const CsvField> fields() const { return fields_; }
  // line is that on which the current row begins; the first is 1.
  [[nodiscard]] std::int64_t line() const { return line_; }

 private:
  void Fill();
  void Consume(std::size_t bytes);

  ByteStream& stream_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // what of buffer_ is not yet given
  bool ended_ = false;
  std::optional<base::Error> failure_;
  std::int64_t line_ = 1, next_line_ = 1;
  std::vector<CsvField> fields_;
};

}  // namespace culprit::sys
