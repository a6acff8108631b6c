#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sys/sqlite.h"

namespace culprit::sys {

// IntegerRow is one row of a TableScan: the values of the columns asked for, in their order.
struct IntegerRow {
  static constexpr std::size_t kMaxColumns = 32;
  std::array<std::int64_t, kMaxColumns> value{};  // 0 where null
  std::bitset<kMaxColumns> null;
};

// TableScan reads integer columns of a big table in order of rowid, in parts that threads can
// share.
//
// It decodes the table's leaf pages itself, several times as fast as sqlite3_step: rows need no
// virtual machine. It understands only what is sound and common. Where it meets anything else (text
// in one of the columns, a row short of columns, a page that contradicts itself), the rest of the
// part is left to SQLite, beginning with the first row not visited. So the rows are SQLite's,
// whichever way they come, but for a page that the end of the file cuts: nothing of it is read.
// Source: the SQLite file format, sections 1.6 "B-tree Pages" and 2.1 "Record Format".
class TableScan {
 public:
  using Visit = std::function<void(const IntegerRow&)>;

  // Prepare finds the table's pages. columns are of SqliteConnection::Columns, at most
  // IntegerRow::kMaxColumns. filter is an SQL condition, or empty; a filter needs SQLite.
  // Owner: database must outlive the scan. Fails with kDamagedTrace.
  static base::Result<TableScan> Prepare(const SqliteDatabase& database, const std::string& table,
                                         std::vector<std::string> columns, std::string filter = {});

  // Split cuts the table into at most `parts` parts of equal size; it is one part before.
  void Split(std::size_t parts);
  [[nodiscard]] std::size_t parts() const { return parts_.size(); }
  // direct tells whether pages are decoded here at all.
  [[nodiscard]] bool direct() const { return !leaves_.empty(); }

  // Read visits the rows of one part; different threads may read different parts. Rows before a
  // damaged page are visited, then it fails with kDamagedTrace.
  [[nodiscard]] base::Status Read(std::size_t part, const Visit& visit) const;

 private:
  struct Leaf {
    std::uint32_t page;
    std::int64_t last_rowid;  // no row of the page has a larger one
  };
  struct Part {
    std::size_t begin, end;    // of leaves_
    std::int64_t first, last;  // rowids, both inclusive
  };

  explicit TableScan(const SqliteDatabase& database) : database_(&database) {}
  base::Status PlanColumns(const SqliteConnection& connection);
  void FindLeaves(std::uint32_t root);
  // ReadPages returns the first rowid that it leaves to SQLite, nullopt when it visited all.
  [[nodiscard]] base::Result<std::optional<std::int64_t>> ReadPages(const Part& part,
                                                                    const Visit& visit) const;
  [[nodiscard]] base::Status ReadRows(std::int64_t first, std::int64_t last,
                                      const Visit& visit) const;

  const SqliteDatabase* database_;
  std::string table_;
  std::vector<std::string> columns_;
  std::string filter_;
  // For each column of a stored record, up to the last one needed: its place in IntegerRow, or -1.
  std::vector<std::int8_t> wanted_;
  std::vector<Leaf> leaves_;  // empty when SQLite has to do it all
  std::vector<Part> parts_;
};

}  // namespace culprit::sys
