#pragma once

#include <string>
#include <utility>

#include "base/result.h"
#include "sys/sqlite.h"

namespace culprit::trace::rocpd {

// RowReader reads small tables of one database, as much as can be read, and remembers whether it
// met damage: names and devices that are lost become unknown ones, and the trace says so.
class RowReader {
 public:
  explicit RowReader(const sys::SqliteConnection& connection) : connection_(connection) {}

  // Each calls visit(const sys::SqliteStatement&) for each row.
  template <typename Visit>
  void Each(const std::string& sql, Visit&& visit) {
    auto rows = connection_.Prepare(sql);
    if (!rows) return Met(rows.error());
    for (;;) {
      auto more = rows->Step();
      if (!more) return Met(more.error());
      if (!*more) return;
      visit(std::as_const(*rows));
    }
  }
  void Met(const base::Error& damage) {
    if (damage_.empty()) damage_ = damage.message;
  }

  [[nodiscard]] const sys::SqliteConnection& connection() const { return connection_; }
  // damage is what SQLite said when it first could not go on; empty while all is well.
  [[nodiscard]] const std::string& damage() const { return damage_; }

 private:
  const sys::SqliteConnection& connection_;
  std::string damage_;
};

}  // namespace culprit::trace::rocpd
