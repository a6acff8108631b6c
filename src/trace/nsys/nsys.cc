#include "trace/nsys/nsys.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "sys/sqlite.h"
#include "trace/builder.h"
#include "trace/nsys/schema.h"

namespace culprit::trace::nsys {
namespace {

using base::ErrorCode;
using base::Fail;
using base::Finding;
using base::Result;

// A serialised GlobalId is hardware id (8 bits), VM id (8), pid (24), tid (24).
std::int64_t PidOf(std::int64_t global_id) { return (global_id >> 24) & 0xFFFFFF; }

// The numbers of ENUM_CUDA_MEMCPY_OPER, which are CUPTI's and the same in all versions; old exports
// lack the table. 11 to 13 are migrations of unified memory.
std::string CopyName(std::int64_t kind) {
  constexpr std::array<std::string_view, 14> kWays = {"unknown", "HtoD", "DtoH", "HtoA", "AtoH",
                                                      "AtoA",    "AtoD", "DtoA", "DtoD", "HtoH",
                                                      "PtoP",    "HtoD", "DtoH", "DtoD"};
  const bool known = kind >= 0 && kind < static_cast<std::int64_t>(kWays.size());
  return fmt::format("{} {}", kind >= 11 && known ? "Unified memcpy" : "Memcpy",
                     known ? kWays[static_cast<std::size_t>(kind)] : kWays[0]);
}

// gridX, gridY, gridZ, blockX, blockY, blockZ from a column on; grids count blocks. Copies have
// none.
Geometry GeometryOf(const sys::SqliteRow& row, int first_column) {
  const auto sizes = [&](int from) {
    return Sizes{row.Int(from), row.Int(from + 1), row.Int(from + 2)};
  };
  return MakeGeometry(sizes(first_column), sizes(first_column + 3));
}

std::optional<std::int64_t> Optional(const sys::SqliteRow& row, int column) {
  return row.IsNull(column) ? std::nullopt : std::optional(row.Int(column));
}

// ExportReader reads one database. A damaged table yields what comes before the damage.
class ExportReader {
 public:
  ExportReader(const sys::SqliteConnection& db, const Schema& schema, const std::string& path,
               const ReadOptions& options)
      : db_(db), schema_(schema), options_(options), builder_("nsys SQLite", path) {
    builder_.trace().clock = NamedClock::kSession;
  }

  base::Diagnostics& diagnostics() { return builder_.diagnostics(); }
  Result<Trace> Read() &&;

 private:
  void ReadNames();
  void ReadDevices();
  // ReadWork returns how many rows it took. name_of gives a name for an Identity, or nullopt.
  template <typename NameOf>
  std::int64_t ReadWork(std::string_view table, WorkKind kind, NameOf name_of);
  void ReadCalls(std::string_view table);

  template <typename Visit>
  void ForEachRow(std::string_view table, const std::string& columns, Visit visit);
  template <typename Visit>
  void ReadTexts(std::string_view table, const std::string& columns, Visit visit);
  void Damaged(const base::Error& error);
  bool Wanted(std::optional<std::int64_t> global_id) const {
    return !options_.process || !global_id || PidOf(*global_id) == *options_.process;
  }

  const sys::SqliteConnection& db_;
  const Schema& schema_;
  const ReadOptions& options_;
  TraceBuilder builder_;
  std::unordered_map<std::int64_t, std::string> names_;    // of kernels and calls, by StringIds.id
  std::unordered_map<std::int64_t, std::string> devices_;  // by TARGET_INFO_GPU.id
  std::set<std::int64_t> processes_;
  std::optional<base::Error> damage_;
};

void ExportReader::Damaged(const base::Error& error) {
  diagnostics().Add(Finding::kQuickCheckFailed, 1, error.message);
  if (!damage_) damage_ = error;
}

template <typename Visit>
void ExportReader::ForEachRow(std::string_view table, const std::string& columns, Visit visit) {
  if (!schema_.Has(table)) return;
  const auto done = db_.ForEachRow(columns, fmt::format("FROM {}", table), visit);
  if (!done) Damaged(done.error());
}

// Visits the rows of two columns, a number and a text.
template <typename Visit>
void ExportReader::ReadTexts(std::string_view table, const std::string& columns, Visit visit) {
  if (!schema_.Has(table)) return;
  auto rows = db_.Prepare(fmt::format("SELECT {} FROM {}", columns, table));
  if (!rows) return Damaged(rows.error());
  for (;;) {
    const auto more = rows->Step();
    if (!more) return Damaged(more.error());
    if (!*more) return;
    visit(rows->Int(0), rows->Text(1));
  }
}

// Only the names that are used: StringIds also holds registered NVTX texts, symbols, file names.
void ExportReader::ReadNames() {
  std::unordered_set<std::int64_t> used;
  for (const std::string_view table : {kKernels, kRuntime, kDriver}) {
    ForEachRow(table, schema_.Identity(table),
               [&](const sys::SqliteRow& row) { used.insert(row.Int(0)); });
  }
  ReadTexts(kStrings, schema_.List(kStrings, {"id", "value"}), [&](std::int64_t id, auto text) {
    if (used.contains(id)) names_.emplace(id, text);
  });
}

void ExportReader::ReadDevices() {
  ReadTexts(kGpus, schema_.List(kGpus, {"id", "name"}),
            [&](std::int64_t id, auto text) { devices_.emplace(id, text); });
}

template <typename NameOf>
std::int64_t ExportReader::ReadWork(std::string_view table, WorkKind kind, NameOf name_of) {
  struct Known {
    KernelId kernel;
    bool named;
  };
  std::unordered_map<std::int64_t, Known> kernels;
  std::int64_t taken = 0;
  const std::string columns =
      schema_.Identity(table) + ", " +
      schema_.List(table, {"start", "end", "deviceId", "streamId", "globalPid", "gridX", "gridY",
                           "gridZ", "blockX", "blockY", "blockZ"});
  ForEachRow(table, columns, [&](const sys::SqliteRow& row) {
    const auto global_pid = Optional(row, 5);
    if (!Wanted(global_pid)) return;
    ++taken;
    if (row.IsNull(1) || row.IsNull(2)) return diagnostics().Add(Finding::kMalformedRow, 1, table);

    auto it = kernels.find(row.Int(0));
    if (it == kernels.end()) {
      const std::optional<std::string> name = name_of(row.Int(0));
      const KernelId kernel =
          builder_.AddKernel(name ? *name : fmt::format("unknown kernel {}", row.Int(0)), kind);
      it = kernels.emplace(row.Int(0), Known{kernel, name.has_value()}).first;
    }
    if (!it->second.named) diagnostics().Add(Finding::kUnknownKernel);

    const std::int64_t device = row.Int(3);
    const auto name = devices_.find(device);
    builder_.AddDevice(device, name == devices_.end() ? "" : std::string_view(name->second));
    const auto pid = global_pid ? std::optional(PidOf(*global_pid)) : std::nullopt;
    if (pid) processes_.insert(*pid);
    builder_.AddDispatch(row.Int(1), row.Int(2), it->second.kernel,
                         builder_.AddGeometry(GeometryOf(row, 6)),
                         builder_.AddLane(device, std::nullopt, Optional(row, 4), pid));
  });
  return taken;
}

void ExportReader::ReadCalls(std::string_view table) {
  const std::string columns =
      schema_.Identity(table) + ", " + schema_.List(table, {"start", "end", "globalTid"});
  ForEachRow(table, columns, [&](const sys::SqliteRow& row) {
    if (!Wanted(Optional(row, 3))) return;
    if (row.IsNull(1) || row.IsNull(2)) return diagnostics().Add(Finding::kMalformedRow, 1, table);
    const auto name = names_.find(row.Int(0));
    builder_.AddHostCall(name == names_.end() ? "" : std::string_view(name->second), row.Int(1),
                         row.Int(2));
  });
}

Result<Trace> ExportReader::Read() && {
  ReadNames();
  ReadDevices();
  const std::int64_t kernels =
      ReadWork(kKernels, WorkKind::kKernel, [&](std::int64_t id) -> std::optional<std::string> {
        const auto it = names_.find(id);
        return it == names_.end() ? std::nullopt : std::optional(it->second);
      });
  ReadWork(kCopies, WorkKind::kCopy, [](std::int64_t way) { return std::optional(CopyName(way)); });
  ReadWork(kFills, WorkKind::kFill, [](std::int64_t) { return std::optional("Memset"); });
  const std::int64_t graphs = ReadWork(kGraphs, WorkKind::kGraph, [](std::int64_t id) {
    return std::optional(fmt::format("CUDA graph {}", id));
  });
  if (kernels == 0 && damage_) return Fail(*damage_);
  if (kernels == 0 && graphs > 0) {
    return Fail(ErrorCode::kUnsupportedTrace,
                "holds CUDA graph launches without the kernels inside them", builder_.trace().path,
                "trace again with nsys profile --cuda-graph-trace=node");
  }
  if (kernels == 0) {
    return Fail(ErrorCode::kNotATrace, "is an nsys export without GPU kernels",
                builder_.trace().path, "trace again with nsys profile --trace=cuda");
  }
  diagnostics().Add(Finding::kGraphWithoutNodes, graphs);
  ReadCalls(kRuntime);
  ReadCalls(kDriver);
  if (processes_.size() > 1) {
    diagnostics().Add(Finding::kSeveralProcesses, static_cast<std::int64_t>(processes_.size()));
  }
  return std::move(builder_).Finish();
}

base::Status CheckColumns(const Schema& schema) {
  for (const std::string_view table : {kKernels, kCopies, kFills, kGraphs, kRuntime, kDriver}) {
    for (const std::string_view column : {"start", "end"}) {
      if (!schema.Has(table) || schema.Has(table, column)) continue;
      return Fail(ErrorCode::kDamagedTrace, fmt::format("{} lacks the column {}", table, column),
                  {}, "export it again with nsys export --type sqlite");
    }
  }
  return {};
}

void CheckFile(const sys::SqliteDatabase& file, const sys::SqliteConnection& db, bool full_check,
               base::Diagnostics& diagnostics) {
  if (file.recovered()) diagnostics.Add(Finding::kHotJournal);
  if (file.truncated()) {
    diagnostics.Add(Finding::kTruncatedFile, 1,
                    fmt::format("{} of {} bytes", file.bytes(), file.header_bytes()));
  }
  if (!full_check) return;
  if (const auto complaint = db.QuickCheck()) {
    diagnostics.Add(Finding::kQuickCheckFailed, 1, *complaint);
  }
}

}  // namespace

Verdict Sniff(const sys::Source& source) {
  if (!sys::LooksLikeSqlite(source.head())) return NotMine{};
  const auto file = sys::SqliteDatabase::Open(source);
  if (!file) return NotMine{};
  const auto db = file->Connect();
  if (!db) return NotMine{};
  const auto schema = Schema::Load(*db);
  if (!schema || !schema->is_nsys()) return NotMine{};
  return Mine{};
}

Result<Trace> Read(const sys::Source& source, const ReadOptions& options) {
  const auto file = sys::SqliteDatabase::Open(source);
  if (!file) return Fail(file.error());
  const auto db = file->Connect();
  if (!db) return Fail(db.error());
  const auto schema = Schema::Load(*db);
  if (!schema) return Fail(schema.error());
  if (auto checked = CheckColumns(*schema); !checked) {
    return Fail(std::move(checked.error()).In(source.path()));
  }
  ExportReader reader(*db, *schema, source.path(), options);
  CheckFile(*file, *db, options.full_check, reader.diagnostics());
  return std::move(reader).Read();
}

}  // namespace culprit::trace::nsys
