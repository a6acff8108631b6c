#pragma once

#include "report/page.h"
#include "report/report.h"

namespace culprit::report {

// AppendTable lays out a table without boxes: a rule under the headings and above a total, numbers
// to the right, details indented and faint.
//
// What does not fit gives way in this order: text columns are cut to one common width, of at least
// 20 columns, or two fifths of the page up to 40 for the label (the first text column); then the
// columns on the right go to a second block that repeats the label, for rows that have something
// there. No column is dropped and no number is cut.
void AppendTable(const Table& table, Page& page);

}  // namespace culprit::report
