#include "trace/rocprof_csv/rocprof_csv.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <unordered_map>

#include "base/printable.h"
#include "sys/csv_rows.h"
#include "trace/builder.h"
#include "trace/csv_fields.h"
#include "trace/dispatch_ids.h"
#include "trace/rocprof_csv/columns.h"

namespace culprit::trace::rocprof_csv {
namespace {

using base::ErrorCode;
using base::Fail;
using base::Finding;
using base::Result;

std::string_view FormatName(Columns::Writer writer) {
  switch (writer) {
    case Columns::Writer::kRocprofv3:
      return "rocprofv3 CSV";
    case Columns::Writer::kRocpdConvert:
      return "rocpd convert CSV";
    case Columns::Writer::kRocprofV1:
      return "rocprof v1 CSV";
  }
  return "rocprof CSV";
}

// Process is one traced process. Its dispatch ids, queues and streams are numbered by itself.
struct Process {
  std::int64_t number;  // its pid, else 1 for the first of the file and so on
  DispatchIds ids;
};

// CsvReader turns the rows of one file into a Trace.
class CsvReader {
 public:
  CsvReader(Columns columns, const std::string& path, const ReadOptions& options)
      : columns_(std::move(columns)),
        options_(options),
        builder_(std::string(FormatName(columns_.writer())), path) {
    builder_.trace().clock = columns_.writer() == Columns::Writer::kRocprofV1
                                 ? NamedClock::kUnknown
                                 : NamedClock::kBoottime;
  }

  base::Status ReadAll(sys::CsvRows& rows);
  Result<Trace> Finish() &&;

 private:
  base::Status KeepWhatWasRead(const base::Error& error);
  // Each of these returns false when the row makes no sense.
  bool AddRow(std::span<const sys::CsvField> row);
  bool AddDispatch(std::span<const sys::CsvField> row, Process& process);
  bool ParseGeometry(std::span<const sys::CsvField> row, Geometry& geometry) const;

  template <typename T>
  bool Parse(std::span<const sys::CsvField> row, Column column, std::optional<T>& value) const {
    return TakeNumber(columns_.Get(row, column).text, value);
  }
  Process& ProcessOf(std::string_view key, std::optional<std::int64_t> pid);

  Columns columns_;
  const ReadOptions& options_;
  TraceBuilder builder_;
  // By guid or pid, and by the header they stand under: files may have been joined.
  std::unordered_map<std::string, Process> processes_;
  std::int64_t headers_ = 1;
  std::string process_key_;
  Process* process_ = nullptr;  // that of process_key_ under the current header
  std::int64_t repeated_ids_ = 0;
  std::string scratch_;
};

base::Status CsvReader::ReadAll(sys::CsvRows& rows) {
  const auto count = [&](Finding finding) {
    builder_.diagnostics().Add(finding, 1, fmt::format("line {}", rows.line()));
  };
  for (;;) {
    const auto state = rows.Next();
    if (!state) return KeepWhatWasRead(state.error());
    if (*state == sys::CsvRows::State::kEnd) return {};
    if (*state == sys::CsvRows::State::kTorn) {
      count(Finding::kTornTail);
      continue;
    }
    const bool whole = *state != sys::CsvRows::State::kTooLong;
    if (whole && columns_.IsHeader(rows.fields())) {
      auto columns = Columns::Find(rows.fields());
      if (!columns) {
        return Fail(std::move(columns.error()).In(fmt::format("line {}", rows.line())));
      }
      columns_ = *std::move(columns);
      ++headers_;
      process_ = nullptr;
    } else if (!whole || !AddRow(rows.fields())) {
      count(Finding::kMalformedRow);
    }
  }
}

// A compressed file that breaks off is worth what came before the break.
base::Status CsvReader::KeepWhatWasRead(const base::Error& error) {
  if (error.code != ErrorCode::kDamagedTrace) return Fail(error);
  builder_.diagnostics().Add(Finding::kTruncatedFile, 1, error.message);
  return {};
}

bool CsvReader::AddRow(std::span<const sys::CsvField> row) {
  if (row.size() != columns_.width()) return false;
  if (columns_.Has(Column::kKind) &&
      !sys::SameName(columns_.Get(row, Column::kKind).text, "KERNEL_DISPATCH")) {
    builder_.diagnostics().Add(Finding::kUnsupportedRecords);
    return true;
  }
  std::optional<std::int64_t> pid;
  if (!Parse(row, Column::kProcess, pid)) return false;
  if (options_.process && pid && pid != options_.process) return true;
  const Column key = columns_.Has(Column::kGuid) ? Column::kGuid : Column::kProcess;
  return AddDispatch(row, ProcessOf(columns_.Get(row, key).text, pid));
}

// "KERNEL_DISPATCH","Agent 1","2","2","2684120","164","33","scale_f32(float const*, …)","40054",
// "342331487558371","342331487561256","0","0","8","0","128","256","1","1","24576","1","1"
bool CsvReader::AddDispatch(std::span<const sys::CsvField> row, Process& process) {
  std::optional<std::int64_t> start, end, agent, queue, stream, id;
  Geometry geometry;
  const sys::CsvField name = columns_.Get(row, Column::kName);
  const bool parsed = Parse(row, Column::kStart, start) && Parse(row, Column::kEnd, end) &&
                      TakeNumber(AgentNumber(columns_.Get(row, Column::kAgent).text), agent) &&
                      Parse(row, Column::kQueue, queue) && Parse(row, Column::kStream, stream) &&
                      Parse(row, Column::kDispatchId, id) && ParseGeometry(row, geometry);
  if (!parsed || !start || !end || !agent || name.text.empty()) return false;
  if (id && !process.ids.Add(*id)) ++repeated_ids_;
  builder_.AddDispatch(*start, *end, builder_.AddKernel(Unquoted(name, scratch_)),
                       builder_.AddGeometry(geometry),
                       builder_.AddLane(*agent, queue, stream, process.number));
  return true;
}

// A grid is counted in work-items. Where a dimension has no column (rocprof v1, whose sizes are
// products of all three) it is 1.
bool CsvReader::ParseGeometry(std::span<const sys::CsvField> row, Geometry& geometry) const {
  std::optional<std::uint32_t> grid[3], block[3];
  constexpr auto kGrid = std::to_array({Column::kGridX, Column::kGridY, Column::kGridZ});
  constexpr auto kBlock = std::to_array({Column::kBlockX, Column::kBlockY, Column::kBlockZ});
  for (std::size_t i = 0; i < 3; ++i) {
    if (!Parse(row, kGrid[i], grid[i]) || !Parse(row, kBlock[i], block[i])) return false;
  }
  if (!grid[0] || !block[0]) return true;
  const auto sizes = [](const auto& parsed) {
    return Sizes{*parsed[0], parsed[1].value_or(1), parsed[2].value_or(1)};
  };
  geometry = GridInBlocks(MakeGeometry(sizes(grid), sizes(block)));
  return true;
}

Process& CsvReader::ProcessOf(std::string_view key, std::optional<std::int64_t> pid) {
  if (process_ == nullptr || key != process_key_) {
    const auto next = static_cast<std::int64_t>(processes_.size() + 1);
    const auto [it, fresh] = processes_.try_emplace(fmt::format("{} {}", headers_, key),
                                                    Process{pid.value_or(next), {}});
    process_key_ = key;
    process_ = &it->second;
  }
  return *process_;
}

Result<Trace> CsvReader::Finish() && {
  auto& diagnostics = builder_.diagnostics();
  for (const auto& [key, process] : processes_) {
    diagnostics.Add(Finding::kMissingDispatchIds, process.ids.missing());
  }
  if (processes_.size() > 1) {
    diagnostics.Add(Finding::kSeveralProcesses, static_cast<std::int64_t>(processes_.size()));
  }
  if (repeated_ids_ > 0) builder_.DropRepeats();
  auto trace = std::move(builder_).Finish();
  if (!trace) return trace;
  for (const Kernel& kernel : trace->kernels) {
    const std::string_view name = trace->strings.Get(kernel.name);
    if (!IsCut(name)) continue;
    trace->diagnostics.Add(Finding::kTruncatedNames, 1, base::Shortened(base::Printable(name), 80));
  }
  return trace;
}

}  // namespace

Result<Trace> Read(const sys::Source& source, const ReadOptions& options) {
  auto stream = source.Stream();
  if (!stream) return Fail(std::move(stream.error()));
  sys::CsvRows rows(**stream);
  const auto header = rows.Next();
  if (!header) return Fail(header.error());
  if (*header != sys::CsvRows::State::kRow) {
    return Fail(ErrorCode::kDamagedTrace, "the file breaks off in its header", source.path(),
                "trace again, or copy the file again");
  }
  auto columns = Columns::Find(rows.fields());
  if (!columns) return Fail(std::move(columns.error()).In(source.path()));
  CsvReader reader(*std::move(columns), source.path(), options);
  if (auto done = reader.ReadAll(rows); !done) {
    return Fail(std::move(done.error()).In(source.path()));
  }
  return std::move(reader).Finish();
}

}  // namespace culprit::trace::rocprof_csv
