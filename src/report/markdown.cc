#include "report/markdown_parts.h"
#include "report/writers.h"

namespace culprit::report {

std::string WriteMarkdown(const Report& whole) {
  const Report report = For(Audience::kPeople, whole);
  std::string out = MarkdownHead(report);
  for (const Table& table : report.tables) {
    out += MarkdownTableTitle(table, report.incomplete);
    const std::string head = MarkdownTableHead(table);
    out += head;
    if (!head.empty()) {
      for (const Row& row : table.rows) out += MarkdownRow(table, row);
    }
    out += MarkdownTableNotes(table);
  }
  return out + MarkdownFoot(report);
}

}  // namespace culprit::report
