#include "report/markdown_parts.h"

#include <algorithm>

#include "base/check.h"
#include "base/printable.h"
#include "report/markdown_text.h"

namespace culprit::report {
namespace {

// Wider cells make a table unreadable, and a name of 64 KB a comment that GitHub refuses.
constexpr std::size_t kWidestCell = 160;

std::string NoteText(const Note& note) {
  std::string text = MarkdownText(note.text);
  switch (note.level) {
    case Note::Level::kError:
      return "❌ **Error:** " + text;
    case Note::Level::kWarning:
      return "⚠️ **Warning:** " + text;
    case Note::Level::kNotice:
      return "**Notice:** " + text;
    case Note::Level::kInfo:
      return text;
  }
  return text;
}

std::string IncompleteMark() { return "\n" + MarkdownBold(MarkdownText(kIncompleteMark)) + "\n"; }

bool Bold(const Row& row) {
  return row.emphasis == Emphasis::kStrong || row.emphasis == Emphasis::kTotal;
}

std::string Proof(const std::vector<Check>& proof) {
  if (proof.empty()) return "";
  std::string out = "\n### Completeness\n\n";
  for (const Check& check : proof) {
    out += check.holds ? "- ✓ " : "- ✗ ";
    out += MarkdownBold(MarkdownText(base::Shortened(check.subject, kWidestCell))) + " ";
    out += MarkdownText(check.text) + "\n";
  }
  return out;
}

}  // namespace

std::string MarkdownHead(const Report& report) {
  std::string out = "## " + MarkdownText(report.title.empty() ? report.kind : report.title) + "\n";
  if (report.incomplete) out += IncompleteMark();
  for (std::size_t i = 0; i < report.headline.size(); ++i) {
    const std::string sentence = MarkdownText(report.headline[i]);
    out += "\n" + (i == 0 ? MarkdownBold(sentence) : sentence) + "\n";
  }
  for (const Note& note : report.notes) {
    if (note.severe()) out += "\n" + NoteText(note) + "\n";
  }
  return out + Proof(report.proof);
}

std::string MarkdownFoot(const Report& report) {
  std::string out;
  if (!std::ranges::all_of(report.notes, &Note::severe)) out += "\n### Notes\n\n";
  for (const Note& note : report.notes) {
    if (!note.severe()) out += "- " + NoteText(note) + "\n";
  }
  if (!report.advice.empty()) out += "\n### Next\n\n";
  for (const std::string& advice : report.advice) out += "- " + MarkdownText(advice) + "\n";
  return out;
}

std::string MarkdownTableTitle(const Table& table, bool incomplete) {
  return "\n### " + MarkdownText(table.title) + "\n" + (incomplete ? IncompleteMark() : "");
}

std::string MarkdownTableHead(const Table& table) {
  std::string headings = "|";
  std::string rule = "|";
  for (const Column& column : table.columns) {
    headings += " " + MarkdownText(base::Shortened(column.heading, kWidestCell)) + " |";
    rule += column.kind == Column::Kind::kText ? ":--|" : "--:|";
  }
  return rule == "|" ? "" : "\n" + headings + "\n" + rule + "\n";
}

std::string MarkdownRow(const Table& table, const Row& row) {
  CULPRIT_CHECK(row.cells.size() == table.columns.size());
  std::string out = "|";
  bool labelled = false;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const Column& column = table.columns[i];
    const std::string text = base::Shortened(row.cells[i].text, kWidestCell);
    const bool label = column.kind == Column::Kind::kText && !labelled;
    labelled = labelled || label;
    if (label && row.depth > 0) {
      out += " ↳ " + MarkdownCode(text) + " |";
    } else {
      out += " " + (Bold(row) ? MarkdownBold(MarkdownText(text)) : MarkdownText(text)) + " |";
    }
  }
  return out + "\n";
}

std::string MarkdownTableNotes(const Table& table) {
  std::string out;
  for (const std::string& note : table.notes) out += "\n" + MarkdownText(note) + "\n";
  return out;
}

}  // namespace culprit::report
