// make_rocpd SAMPLE OUT DISPATCHES: makes a rocpd database of any size from a small one by
// repeating its dispatches and their events, with later times and higher ids, until there are that
// many.
#include <fmt/format.h>
#include <sqlite3.h>

#include <charconv>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "sys/sqlite.h"

namespace {

using culprit::sys::QuoteIdentifier;

struct Table {
  std::string name;
  std::vector<std::string> columns;
};

bool Run(sqlite3* handle, const std::string& sql) {
  char* message = nullptr;
  if (sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, &message) == SQLITE_OK) return true;
  fmt::print(stderr, "make_rocpd: {}\n", message);
  sqlite3_free(message);
  return false;
}

std::int64_t Number(sqlite3* handle, const std::string& sql) {
  std::int64_t number = 0;
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(handle, sql.c_str(), -1, &statement, nullptr);
  if (sqlite3_step(statement) == SQLITE_ROW) number = sqlite3_column_int64(statement, 0);
  sqlite3_finalize(statement);
  return number;
}

// Repeat appends the first `rows` rows once more, ids and times shifted.
std::string Repeat(const Table& table, std::int64_t rows, std::int64_t ids, std::int64_t nanos) {
  std::string values;
  for (const std::string& column : table.columns) {
    values += (values.empty() ? "" : ", ") + QuoteIdentifier(column);
    if (column == "id" || column == "dispatch_id" || column == "event_id")
      values += fmt::format("+{}", ids);
    if (column == "start" || column == "end") values += fmt::format("+{}", nanos);
  }
  const std::string name = QuoteIdentifier(table.name);
  return fmt::format("INSERT INTO {0} SELECT {1} FROM {0} ORDER BY id LIMIT {2}", name, values,
                     rows);
}

bool Grow(sqlite3* handle, const Table& dispatches, const Table& events, std::int64_t wanted) {
  const std::string table = QuoteIdentifier(dispatches.name);
  const std::int64_t sample = Number(handle, "SELECT count(*) FROM " + table);
  const std::int64_t ids = Number(handle, "SELECT max(id) FROM " + QuoteIdentifier(events.name));
  const std::int64_t span =
      Number(handle, "SELECT max(\"end\") - min(start) + 1000000 FROM " + table);
  if (sample == 0) return false;
  bool ok = Run(handle, "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN");
  for (std::int64_t have = sample, round = 1; ok && have < wanted; ++round) {
    const std::int64_t rows = std::min(sample, wanted - have);
    ok = Run(handle, Repeat(events, rows, round * ids, 0)) &&
         Run(handle, Repeat(dispatches, rows, round * ids, round * span));
    have += rows;
  }
  return ok && Run(handle, "COMMIT");
}

}  // namespace

int main(int argc, char** argv) {
  std::int64_t wanted = 0;
  const std::string_view count = argc == 4 ? argv[3] : "";
  std::from_chars(count.data(), count.data() + count.size(), wanted);
  if (wanted <= 0) {
    fmt::print(stderr, "usage: make_rocpd SAMPLE OUT DISPATCHES\n");
    return 2;
  }
  std::error_code error;
  std::filesystem::copy_file(argv[1], argv[2], std::filesystem::copy_options::overwrite_existing,
                             error);
  if (error) {
    fmt::print(stderr, "make_rocpd: {}: {}\n", argv[2], error.message());
    return 1;
  }
  std::filesystem::permissions(argv[2], std::filesystem::perms::owner_write,
                               std::filesystem::perm_options::add, error);
  sqlite3* handle = nullptr;
  sqlite3_open(argv[2], &handle);
  Table dispatches, events;
  {
    const auto source = culprit::sys::Source::Open(argv[1]);
    const auto database = culprit::sys::SqliteDatabase::Open(*source);
    const auto connection = database->Connect();
    const auto tables = connection->Tables();
    for (const std::string& name : *tables) {
      if (name.starts_with("rocpd_kernel_dispatch"))
        dispatches = {name, *connection->Columns(name)};
      if (name.starts_with("rocpd_event")) events = {name, *connection->Columns(name)};
    }
  }
  const bool ok = Grow(handle, dispatches, events, wanted);
  sqlite3_close(handle);
  return ok ? 0 : 1;
}
