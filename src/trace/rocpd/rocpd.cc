#include "trace/rocpd/rocpd.h"

#include <fmt/format.h>

#include <algorithm>

#include "sys/sqlite.h"
#include "trace/builder.h"
#include "trace/rocpd/companions.h"
#include "trace/rocpd/dispatches.h"
#include "trace/rocpd/lookups.h"
#include "trace/rocpd/row_reader.h"
#include "trace/rocpd/schema.h"

namespace culprit::trace::rocpd {
namespace {

using base::ErrorCode;
using base::Fail;
using base::Finding;
using base::Result;

base::Error RpdRefusal() {
  return {ErrorCode::kUnsupportedTrace,
          "is a rocmProfileData (RPD) database, another format that also calls itself rocpd", "",
          "trace with rocprofv3 --kernel-trace instead"};
}
base::Error RocprofV1Refusal() {
  return {ErrorCode::kUnsupportedTrace, "is a database of rocprof v1", "",
          "give the results CSV that rocprof v1 wrote beside it, or trace with rocprofv3"};
}

// The text "3" or "3.0.2"; anything else in its place is ignored.
std::string FormatName(RowReader& rows, const std::vector<IdSpace>& spaces) {
  std::string version;
  for (const IdSpace& space : spaces) {
    if (!space.Has("metadata", "tag") || !space.Has("metadata", "value")) continue;
    rows.Each(space.Select("metadata", {"tag", "value"}), [&](const sys::SqliteStatement& row) {
      if (row.Text(0) == "schema_version" && version.empty()) version = row.Text(1);
    });
  }
  const bool plain = !version.empty() && version.size() <= 10 &&
                     version.find_first_not_of("0123456789.") == std::string::npos;
  if (plain) return "rocpd " + version;
  return spaces.front().Has("kernel_dispatch", "track_id") ? "rocpd 4" : "rocpd 3";
}

// The tables in which every dispatch or call has a row; the others are small.
bool IsBig(std::string_view table) {
  return table == "kernel_dispatch" || table == "memory_copy" || table == "region" ||
         table == "string";
}

void QuickCheckSmallTables(RowReader& rows, const std::vector<IdSpace>& spaces,
                           base::Diagnostics& found) {
  for (const IdSpace& space : spaces) {
    for (const auto& [table, columns] : space.columns) {
      if (IsBig(table)) continue;
      if (const auto complaint = rows.connection().QuickCheck(space.Name(table)))
        found.Add(Finding::kQuickCheckFailed, 1, *complaint);
    }
  }
}

bool HasView(RowReader& rows) {
  bool found = false;
  rows.Each("SELECT 1 FROM sqlite_master WHERE type='view' AND name LIKE '%rocpd_kernel_dispatch'",
            [&](const sys::SqliteStatement&) { found = true; });
  return found;
}

// The sequence of an AUTOINCREMENT table is the largest id ever given.
std::int64_t RowsPromised(RowReader& rows, const IdSpace& space) {
  std::int64_t promised = 0;
  const std::string name = space.Name("kernel_dispatch");
  rows.Each("SELECT name, seq FROM sqlite_sequence", [&](const sys::SqliteStatement& row) {
    if (row.Text(0) == name) promised = row.Int(1);
  });
  return promised;
}

// One reading of one file.
class Reading {
 public:
  Reading(const sys::SqliteDatabase& database, const sys::SqliteConnection& connection,
          const ReadOptions& options, std::string path, std::vector<IdSpace> spaces)
      : database_(database),
        options_(options),
        path_(std::move(path)),
        rows_(connection),
        spaces_(std::move(spaces)),
        builder_(FormatName(rows_, spaces_), path_) {}

  Result<Trace> Run() {
    builder_.trace().clock = NamedClock::kBoottime;
    if (auto status = ReadSpaces(); !status) return Fail(std::move(status.error()).In(path_));
    CheckFile();
    if (builder_.trace().size() == 0) {
      if (auto why = WhyNoDispatch()) return Fail(*std::move(why));
    }
    if (options_.progress) options_.progress(1);
    return std::move(builder_).Finish();
  }

 private:
  base::Status ReadSpaces() {
    Machines machines;
    for (const IdSpace& space : spaces_) {
      const Lookups lookups = ReadLookups(rows_, space, machines);
      auto read = ReadDispatches(database_, space, lookups, options_, processes_, builder_);
      if (!read) return Fail(std::move(read.error()));
      if (!read->damage.empty()) NoteDamagedDispatches(space, *read);
      ReadCopies(rows_, space, lookups, options_, builder_);
      ReadHostCalls(database_, rows_, space, lookups, options_, builder_);
      CheckGraphs(rows_, space, builder_);
    }
    if (!options_.process && processes_.read.size() > 1) {
      builder_.diagnostics().Add(Finding::kSeveralProcesses,
                                 static_cast<std::int64_t>(processes_.read.size()),
                                 fmt::format("pids {}", fmt::join(processes_.read, ", ")));
    }
    return {};
  }

  void NoteDamagedDispatches(const IdSpace& space, const DispatchRead& read) {
    damaged_ = true;
    const std::int64_t promised = RowsPromised(rows_, space);
    builder_.diagnostics().Add(
        database_.truncated() ? Finding::kTruncatedFile : Finding::kQuickCheckFailed, 1,
        promised > 0 ? fmt::format("{} of {} dispatches were read; {}", read.dispatches, promised,
                                   read.damage)
                     : fmt::format("{} dispatches were read; {}", read.dispatches, read.damage));
  }

  void CheckFile() {
    base::Diagnostics& found = builder_.diagnostics();
    if (database_.recovered()) found.Add(Finding::kHotJournal);
    if (database_.truncated() && !found.Has(Finding::kTruncatedFile)) {
      found.Add(Finding::kTruncatedFile, 1,
                fmt::format("{} of {} bytes", database_.bytes(), database_.header_bytes()));
    }
    const bool has_suffix = std::any_of(spaces_.begin(), spaces_.end(),
                                        [](const IdSpace& space) { return !space.suffix.empty(); });
    if (has_suffix && !HasView(rows_)) found.Add(Finding::kMissingViews);
    if (!rows_.damage().empty()) found.Add(Finding::kQuickCheckFailed, 1, rows_.damage());
    damaged_ = damaged_ || !rows_.damage().empty() || database_.recovered() ||
               database_.truncated() || database_.header_bytes() != database_.bytes();
    if (!damaged_ && !options_.full_check) return QuickCheckSmallTables(rows_, spaces_, found);
    if (found.Has(Finding::kQuickCheckFailed) || database_.truncated()) return;
    if (const auto complaint = rows_.connection().QuickCheck())
      found.Add(Finding::kQuickCheckFailed, 1, *complaint);
  }

  [[nodiscard]] std::optional<base::Error> WhyNoDispatch() {
    if (!processes_.left_out.empty()) {
      return base::Error{ErrorCode::kUsage,
                         fmt::format("holds no dispatch of process {}", *options_.process), path_,
                         fmt::format("it has pids {}", fmt::join(processes_.left_out, ", "))};
    }
    for (const auto& entry : builder_.diagnostics().entries()) {
      const base::FindingInfo& info = base::Describe(entry.finding);
      if (info.severity == base::Severity::kDataLoss && entry.finding != Finding::kZeroStamps) {
        return base::Error{ErrorCode::kDamagedTrace,
                           fmt::format("no dispatch can be read: {}", info.what), path_,
                           std::string(info.advice)};
      }
    }
    return std::nullopt;
  }

  const sys::SqliteDatabase& database_;
  const ReadOptions& options_;
  std::string path_;
  RowReader rows_;
  std::vector<IdSpace> spaces_;
  TraceBuilder builder_;
  Processes processes_;
  bool damaged_ = false;
};

}  // namespace

Verdict Sniff(const sys::Source& source) {
  if (!sys::LooksLikeSqlite(source.head())) return NotMine{};
  // Table definitions lie at the front: this spares unpacking a compressed file, and knows a file
  // too damaged to be opened.
  if (source.head().find("rocpd_info_") != std::string_view::npos) return Mine{};
  const auto database = sys::SqliteDatabase::Open(source);
  if (!database) return NotMine{};
  const auto connection = database->Connect();
  if (!connection) return NotMine{};
  const auto tables = connection->Tables();
  if (!tables) return NotMine{};
  const auto has = [&](std::string_view name) {
    return std::find(tables->begin(), tables->end(), name) != tables->end();
  };
  if (std::any_of(tables->begin(), tables->end(), IsRocpdTable)) return Mine{};
  if (has("rocpd_op") || has("rocpd_api")) return Refused{RpdRefusal()};
  if (has("KERN")) return Refused{RocprofV1Refusal()};
  return NotMine{};
}

Result<Trace> Read(const sys::Source& source, const ReadOptions& options) {
  const auto database = sys::SqliteDatabase::Open(source);
  if (!database) return Fail(database.error());
  const auto connection = database->Connect();
  if (!connection) return Fail(connection.error());
  auto spaces = FindIdSpaces(*connection);
  if (!spaces) return Fail(std::move(spaces.error()));
  if (spaces->empty()) {
    return Fail(ErrorCode::kDamagedTrace, "is a rocpd database without a table of dispatches",
                source.path(), "trace again with kernel tracing on");
  }
  return Reading(*database, *connection, options, source.path(), *std::move(spaces)).Run();
}

}  // namespace culprit::trace::rocpd
