#include <algorithm>

#include "base/printable.h"
#include "report/page.h"
#include "report/terminal_table.h"
#include "report/writers.h"

namespace culprit::report {
namespace {

void AppendNote(const Note& note, Page& page) {
  switch (note.level) {
    case Note::Level::kError:
      return page.Sentence("✗ Error: ", Ink::kRed, note.text);
    case Note::Level::kWarning:
      return page.Sentence("! Warning: ", Ink::kYellow, note.text);
    case Note::Level::kNotice:
      return page.Sentence("  · Notice: ", Ink::kFaint, note.text);
    case Note::Level::kInfo:
      return page.Sentence("  · ", Ink::kFaint, note.text);
  }
}

// The answer comes first, then what it is the answer to, then what speaks against it.
void AppendHead(const Report& report, Page& page) {
  if (report.incomplete) {
    page.Sentence(kIncompleteMark, Ink::kRed);
    page.Gap();
  }
  Ink ink = Ink::kBold;
  for (const std::string& sentence : report.headline) {
    page.Sentence(sentence, ink);
    ink = Ink::kPlain;
  }
  if (!report.title.empty()) page.Sentence(report.title, Ink::kFaint);
  if (std::ranges::any_of(report.notes, &Note::severe)) page.Gap();
  for (const Note& note : report.notes) {
    if (note.severe()) AppendNote(note, page);
  }
}

//   Completeness
//     ✓ f16  Σ exclusive + idle = window
//     ✗ q4   steps in the window: 95, implied by the tokens: 96
void AppendProof(const std::vector<Check>& proof, Page& page) {
  if (proof.empty()) return;
  constexpr std::size_t kWidestSubject = 24;
  std::size_t width = 0;
  for (const Check& check : proof) {
    width = std::max(width, std::min(base::Columns(Inert(check.subject)), kWidestSubject));
  }
  page.Gap();
  page.Line("Completeness", Ink::kBold);
  for (const Check& check : proof) {
    std::string subject = base::Shortened(Inert(check.subject), width);
    if (width > 0) subject.append(width - base::Columns(subject) + 2, ' ');
    page.Sentence((check.holds ? "  ✓ " : "  ✗ ") + subject, check.holds ? Ink::kGreen : Ink::kRed,
                  check.text);
  }
}

void AppendTitledTable(const Table& table, bool incomplete, Page& page) {
  page.Gap();
  page.Sentence(table.title, Ink::kBold);
  if (incomplete) page.Sentence(kIncompleteMark, Ink::kRed);
  AppendTable(table, page);
  for (const std::string& note : table.notes) page.Sentence("  ", Ink::kPlain, note, Ink::kFaint);
}

void AppendFoot(const Report& report, Page& page) {
  if (!std::ranges::all_of(report.notes, &Note::severe)) {
    page.Gap();
    page.Line("Notes", Ink::kBold);
  }
  for (const Note& note : report.notes) {
    if (!note.severe()) AppendNote(note, page);
  }
  if (report.advice.empty()) return;
  page.Gap();
  page.Line("Next", Ink::kBold);
  for (const std::string& advice : report.advice) page.Sentence("  → ", Ink::kPlain, advice);
}

}  // namespace

std::string WriteTerminal(const Report& whole, const Style& style) {
  const Report report = For(Audience::kPeople, whole);
  Page page(style);
  AppendHead(report, page);
  AppendProof(report.proof, page);
  for (const Table& table : report.tables) AppendTitledTable(table, report.incomplete, page);
  AppendFoot(report, page);
  return std::move(page).text();
}

}  // namespace culprit::report
