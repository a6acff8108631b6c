#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sys/sqlite.h"

namespace culprit::trace::rocpd {

// IdSpace is a set of tables within which an id means one thing: rocpd's tables carry the uuid of
// the process that wrote them in their names, and a merged file holds several such sets.
//
// Which columns there are is asked of the file: the version number says "3" for everything from
// ROCm 7.0 on, whatever the columns.
struct IdSpace {
  std::string prefix;  // "rocpd_", or "_rocpd_" in some versions
  std::string suffix;  // "_00003fdc_92cb_…", or "" where the tables have plain names
  std::string guid;    // set where one table holds rows of several writers; else ""
  std::map<std::string, std::vector<std::string>, std::less<>> columns;  // of "kernel_dispatch", …

  [[nodiscard]] bool Has(std::string_view table) const { return columns.contains(table); }
  [[nodiscard]] bool Has(std::string_view table, std::string_view column) const;
  // Name is the table's name in the file.
  [[nodiscard]] std::string Name(std::string_view table) const;
  // Filter is an SQL condition on rows of the table, or "".
  [[nodiscard]] std::string Filter(std::string_view table) const;
  // Select is a query for these columns, NULL in place of a column that the table lacks.
  [[nodiscard]] std::string Select(std::string_view table,
                                   const std::vector<std::string_view>& wanted) const;
};

// FindIdSpaces lists the id spaces that have a dispatch table, in the order of the file; empty when
// the database is no rocpd one. Fails with kDamagedTrace.
base::Result<std::vector<IdSpace>> FindIdSpaces(const sys::SqliteConnection& connection);

// IsRocpdTable tells whether a table of this name is one that only rocpd of schema 3 and later has.
bool IsRocpdTable(std::string_view name);

}  // namespace culprit::trace::rocpd
