#include <string>
#include <utility>

#include "collect/rocprofv3/rows.h"
#include "sys/sqlite.h"

namespace culprit::collect::rocprofv3 {

using base::Fail;

// A process writes one table rocpd_kernel_dispatch_<uuid>; merged files have several.
base::Result<Rows> ReadDatabase(const sys::SqliteDatabase& database) {
  auto connection = database.Connect();
  if (!connection) return Fail(std::move(connection.error()));
  if (auto complaint = connection->QuickCheck()) {
    return Fail(base::ErrorCode::kDamagedTrace, *std::move(complaint));
  }
  auto tables = connection->Tables();
  if (!tables) return Fail(std::move(tables.error()));
  RowCount count;
  bool found = false;
  for (const std::string& table : *tables) {
    if (!table.starts_with("rocpd_kernel_dispatch")) continue;
    found = true;
    auto read = connection->ForEachRow(
        "dispatch_id, start, \"end\"", "FROM " + sys::QuoteIdentifier(table),
        [&count](const sys::SqliteRow& row) { count.Add(row.Int(0), row.Int(1), row.Int(2)); });
    if (!read) return Fail(std::move(read.error()));
  }
  if (!found) return Fail(base::ErrorCode::kDamagedTrace, "there is no table of dispatches in it");
  return count.Finish();
}

}  // namespace culprit::collect::rocprofv3
