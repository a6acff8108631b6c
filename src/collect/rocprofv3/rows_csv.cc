#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "collect/rocprofv3/rows.h"
#include "sys/csv_rows.h"

namespace culprit::collect::rocprofv3 {
namespace {

using base::ErrorCode;
using base::Fail;
using sys::CsvRows;
using Fields = std::span<const sys::CsvField>;

// "Kind","Agent_Id","Queue_Id",…,"Dispatch_Id",…,"Start_Timestamp","End_Timestamp",…
struct Columns {
  std::size_t count = 0;
  std::optional<std::size_t> id, start, end;
};

bool SameName(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) ==
           std::tolower(static_cast<unsigned char>(y));
  });
}

Columns ColumnsOf(Fields header) {
  Columns columns{.count = header.size()};
  for (std::size_t i = 0; i < header.size(); ++i) {
    if (SameName(header[i].text, "Dispatch_Id")) columns.id = i;
    if (SameName(header[i].text, "Start_Timestamp")) columns.start = i;
    if (SameName(header[i].text, "End_Timestamp")) columns.end = i;
  }
  return columns;
}

std::optional<std::int64_t> NumberOf(const sys::CsvField& field) {
  std::int64_t number = 0;
  const char* end = field.text.data() + field.text.size();
  const auto parsed = std::from_chars(field.text.data(), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end || number < 0) return std::nullopt;
  return number;
}

// AddRow is false for a row that is no dispatch.
bool AddRow(Fields row, const Columns& columns, RowCount& count) {
  if (row.size() != columns.count) return false;
  const auto start = NumberOf(row[*columns.start]), end = NumberOf(row[*columns.end]);
  const auto id = columns.id ? NumberOf(row[*columns.id]) : count.size();
  if (!start || !end || !id) return false;
  count.Add(*id, *start, *end);
  return true;
}

base::Result<Columns> ReadHeader(CsvRows& rows) {
  const auto state = rows.Next();
  if (!state) return Fail(state.error());
  Columns columns = *state == CsvRows::State::kRow ? ColumnsOf(rows.fields()) : Columns{};
  if (!columns.start || !columns.end) {
    return Fail(ErrorCode::kNotATrace, "its first line is not that of a kernel trace");
  }
  return columns;
}

}  // namespace

base::Result<Rows> ReadCsv(const sys::Source& source) {
  const auto stream = source.Stream();
  if (!stream) return Fail(stream.error());
  CsvRows rows(**stream);
  const auto columns = ReadHeader(rows);
  if (!columns) return Fail(columns.error());
  RowCount count;
  while (true) {
    const auto state = rows.Next();
    if (!state) return Fail(state.error());
    if (*state == CsvRows::State::kEnd) return count.Finish();
    if (*state == CsvRows::State::kTorn) {
      return Fail(ErrorCode::kDamagedTrace, "its last line is cut");
    }
    if (*state != CsvRows::State::kRow || !AddRow(rows.fields(), *columns, count)) {
      return Fail(ErrorCode::kDamagedTrace, fmt::format("line {} is no dispatch", rows.line()));
    }
  }
}

}  // namespace culprit::collect::rocprofv3
