#include <fmt/format.h>

#include <optional>
#include <span>

#include "base/parse_number.h"
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
  std::optional<std::size_t> id, start, end, counter;
};

Columns ColumnsOf(Fields header) {
  return {header.size(), sys::FindColumn(header, "Dispatch_Id"),
          sys::FindColumn(header, "Start_Timestamp"), sys::FindColumn(header, "End_Timestamp"),
          sys::FindColumn(header, "Counter_Name")};
}

std::optional<std::int64_t> NumberOf(const sys::CsvField& field) {
  const auto number = base::ParseNumber(field.text);
  return number && *number >= 0 ? number : std::nullopt;
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

// More than a pass can hold are of no interest.
void AddCounter(std::string_view name, std::set<std::string, std::less<>>& counters) {
  constexpr std::size_t kMost = 1000;
  if (counters.find(name) == counters.end() && counters.size() < kMost) counters.emplace(name);
}

base::Result<Columns> ReadHeader(CsvRows& rows, const Pass& pass) {
  const auto state = rows.Next();
  if (!state) return Fail(state.error());
  Columns columns = *state == CsvRows::State::kRow ? ColumnsOf(rows.fields()) : Columns{};
  if (!columns.start || !columns.end) {
    return Fail(ErrorCode::kNotATrace, "its first line is not that of a kernel trace");
  }
  if (columns.counter.has_value() != pass.counts()) {
    return Fail(ErrorCode::kNotATrace, pass.counts() ? "nothing is counted in it"
                                                     : "it counts, and its times are no timing");
  }
  return columns;
}

}  // namespace

base::Result<Rows> ReadCsv(const sys::Source& source, const Pass& pass) {
  const auto stream = source.Stream();
  if (!stream) return Fail(stream.error());
  CsvRows rows(**stream);
  const auto columns = ReadHeader(rows, pass);
  if (!columns) return Fail(columns.error());
  RowCount count;
  std::set<std::string, std::less<>> counters;
  while (true) {
    const auto state = rows.Next();
    if (!state) return Fail(state.error());
    if (*state == CsvRows::State::kEnd) {
      Rows all = count.Finish();
      all.counters = {counters.begin(), counters.end()};
      return all;
    }
    if (*state == CsvRows::State::kTorn) {
      return Fail(ErrorCode::kDamagedTrace, "its last line is cut");
    }
    if (*state != CsvRows::State::kRow || !AddRow(rows.fields(), *columns, count)) {
      return Fail(ErrorCode::kDamagedTrace, fmt::format("line {} is no dispatch", rows.line()));
    }
    if (columns->counter) AddCounter(rows.fields()[*columns->counter].text, counters);
  }
}

}  // namespace culprit::collect::rocprofv3
