// markdown_parts: the pieces of which the Markdown report and GitHub's summary are made. Each is
// whole lines, one for each sentence or row, and begins with an empty line where it needs one.
#pragma once

#include <string>

#include "report/report.h"

namespace culprit::report {

// MarkdownHead is the title, the answer, what speaks against it, and the proof.
std::string MarkdownHead(const Report& report);
// MarkdownFoot is the notes that are not severe, and the advice.
std::string MarkdownFoot(const Report& report);

std::string MarkdownTableTitle(const Table& table, bool incomplete);
// MarkdownTableHead is the headings and the line below; "" without columns.
std::string MarkdownTableHead(const Table& table);
// MarkdownRow is one line. The label of a detail is a name out of a trace, hence a code span.
std::string MarkdownRow(const Table& table, const Row& row);
std::string MarkdownTableNotes(const Table& table);

}  // namespace culprit::report
