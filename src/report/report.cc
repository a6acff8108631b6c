#include "report/report.h"

#include <utility>

#include "base/check.h"

namespace culprit::report {
namespace {

bool Sees(Audience who, Audience wanted) { return wanted == Audience::kEveryone || wanted == who; }

Table PartFor(Audience audience, const Table& table) {
  Table part{table.id, table.title, {}, {}, table.notes};
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (!Sees(audience, table.columns[i].audience)) continue;
    kept.push_back(i);
    part.columns.push_back(table.columns[i]);
  }
  for (const Row& row : table.rows) {
    CULPRIT_CHECK(row.cells.size() == table.columns.size());
    if (!Sees(audience, row.audience)) continue;
    Row line{{}, row.depth, row.emphasis, row.audience};
    for (const std::size_t i : kept) line.cells.push_back(row.cells[i]);
    part.rows.push_back(std::move(line));
  }
  return part;
}

}  // namespace

Report For(Audience audience, const Report& report) {
  Report part = report;
  for (Table& table : part.tables) table = PartFor(audience, table);
  return part;
}

std::string_view Name(Note::Level level) {
  switch (level) {
    case Note::Level::kInfo:
      return "info";
    case Note::Level::kNotice:
      return "notice";
    case Note::Level::kWarning:
      return "warning";
    case Note::Level::kError:
      return "error";
  }
  return "";
}

}  // namespace culprit::report
