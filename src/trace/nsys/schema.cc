#include "trace/nsys/schema.h"

#include <algorithm>
#include <array>

namespace culprit::trace::nsys {

base::Result<Schema> Schema::Load(const sys::SqliteConnection& db) {
  constexpr std::array kWanted = {kKernels, kCopies, kFills,   kGraphs,
                                  kRuntime, kDriver, kStrings, kGpus};
  const auto tables = db.Tables();
  if (!tables) return base::Fail(tables.error());
  Schema schema;
  for (const std::string& table : *tables) {
    // Every export has some of both kinds; a .nvvp file of nvprof has no StringIds.
    schema.is_nsys_ |=
        table.starts_with("CUPTI_ACTIVITY_KIND_") || table.starts_with("TARGET_INFO_");
    const auto* const wanted = std::ranges::find(kWanted, std::string_view(table));
    if (wanted == kWanted.end()) continue;
    auto columns = db.Columns(table);
    if (!columns) return base::Fail(std::move(columns.error()));
    schema.columns_[*wanted] = *std::move(columns);
  }
  return schema;
}

bool Schema::Has(std::string_view table, std::string_view column) const {
  const auto it = columns_.find(table);
  return it != columns_.end() && std::ranges::find(it->second, column) != it->second.end();
}

// The full name first: shortName has lost its template arguments.
std::string Schema::Identity(std::string_view table) const {
  std::string list;
  for (const std::string_view column :
       {"demangledName", "mangledName", "shortName", "nameId", "copyKind", "graphId"}) {
    if (Has(table, column)) list += sys::QuoteIdentifier(column) + ", ";
  }
  return "coalesce(" + list + "NULL, NULL)";
}

std::string Schema::List(std::string_view table,
                         std::initializer_list<std::string_view> columns) const {
  std::string list;
  for (const std::string_view column : columns) {
    if (!list.empty()) list += ", ";
    list += Has(table, column) ? sys::QuoteIdentifier(column) : "NULL";
  }
  return list;
}

}  // namespace culprit::trace::nsys
