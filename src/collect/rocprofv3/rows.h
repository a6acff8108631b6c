#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "collect/rocprofv3/pass.h"
#include "sys/source.h"
#include "sys/sqlite.h"

namespace culprit::collect::rocprofv3 {

// Rows are the dispatches of a trace file, as far as a verdict needs them. Times are
// CLOCK_BOOTTIME; the beginning of the clock where the tool had none.
struct Rows {
  std::uint64_t dispatches = 0;  // of counters: rows, one for each counter of a dispatch
  std::uint64_t ids = 0;         // different ones
  std::int64_t first_id = 0, last_id = 0;
  base::HostTime begin{}, end{};
  std::set<std::string> counters = {};
  bool operator==(const Rows&) const = default;
};

// RowCount makes Rows of dispatches, in any order. Numbers may be hostile: what is negative is 0.
class RowCount {
 public:
  void Add(std::int64_t id, std::int64_t start, std::int64_t end);
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(ids_.size()); }
  Rows Finish();

 private:
  std::vector<std::int64_t> ids_;
  std::int64_t begin_ = 0, end_ = 0;
};

// ReadDatabase reads rocpd of any schema. Fails with kDamagedTrace when SQLite complains of the
// file, and when it holds no table of dispatches.
base::Result<Rows> ReadDatabase(const sys::SqliteDatabase& database);

// ReadCsv reads a kernel trace of rocprofv3, or what it counted in a pass of counters. Columns are
// found by name; without Dispatch_Id, as ROCm 6.2 writes it, every row has an id of its own. Fails
// with kNotATrace when the header is another, and kDamagedTrace when a row is cut or has another
// number of fields.
base::Result<Rows> ReadCsv(const sys::Source& source, const Pass& pass);

}  // namespace culprit::collect::rocprofv3
