#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/number_format.h"
#include "base/printable.h"
#include "report/markdown_parts.h"
#include "report/writers.h"

namespace culprit::report {
namespace {

// GitHub refuses a step's summary from 1,024 KiB on; other commands of the step may add to it.
constexpr std::size_t kSummaryBytes = 1'000'000;
constexpr std::size_t kAnnotationsOfAKind = 10;
constexpr std::size_t kWidestTitle = 200;
constexpr std::size_t kWidestMessage = 4'000;

// Allowance is how many bytes of the summary are not given away yet.
class Allowance {
 public:
  explicit Allowance(std::size_t bytes) : left_(bytes) {}

  // Keep returns the first lines of text, as many as the allowance covers, and says how many more
  // there are. A later line that would fit is left out too: it may be the detail of one that is not
  // there. The sentence is not counted: there are few of them.
  std::string Keep(std::string_view text) {
    std::string out;
    std::int64_t left_out = 0;
    while (!text.empty()) {
      const std::size_t line = std::min(text.find('\n'), text.size() - 1) + 1;
      if (left_out == 0 && line <= left_) {
        out += text.substr(0, line);
        left_ -= line;
      } else {
        ++left_out;
      }
      text.remove_prefix(line);
    }
    if (left_out == 0) return out;
    return out + "\n*" + base::Grouped(left_out) +
           " lines are left out here: a summary of GitHub takes 1 MiB. The JSON and the CSV report "
           "hold all of them.*\n";
  }

 private:
  std::size_t left_;
};

// Folded is the rows that have details, and these, behind a triangle to click on.
std::string Folded(const Table& table, bool incomplete, Allowance& allowance) {
  std::string lines = MarkdownTableHead(table);
  if (lines.empty()) return "";
  std::int64_t details = 0;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const bool detail = table.rows[i].depth > 0;
    const bool has_details = i + 1 < table.rows.size() && table.rows[i + 1].depth > 0;
    if (detail || has_details) lines += MarkdownRow(table, table.rows[i]);
    details += detail ? 1 : 0;
  }
  if (details == 0) return "";
  std::string out = "\n<details><summary>Details (" + base::Grouped(details) + " rows)";
  if (incomplete) out += std::string(" (") + kIncompleteMark + ")";
  out += "</summary>\n";
  return out + allowance.Keep(lines) + "\n</details>\n";
}

std::string Unfolded(const Table& table, bool incomplete, Allowance& allowance) {
  std::string lines = MarkdownTableHead(table);
  const bool visible = !lines.empty();
  for (const Row& row : table.rows) {
    if (visible && row.depth == 0) lines += MarkdownRow(table, row);
  }
  return allowance.Keep(MarkdownTableTitle(table, incomplete)) + allowance.Keep(lines);
}

// CommandText writes what the runner undoes: %25, %0D, %0A, and in properties %3A and %2C too.
// Source: actions/toolkit, command.ts.
std::string CommandText(std::string_view text, bool property) {
  std::string out;
  for (const char c : text) {
    if (c == '%') {
      out += "%25";
    } else if (c == '\r') {
      out += "%0D";
    } else if (c == '\n') {
      out += "%0A";
    } else if (property && c == ':') {
      out += "%3A";
    } else if (property && c == ',') {
      out += "%2C";
    } else {
      out += c;
    }
  }
  return out;
}

struct Annotation {
  std::string title, message;
};

// ::warning title=culprit%3A dropped_records::the profiler dropped 12 records
std::string Commands(std::string_view kind, std::vector<Annotation> annotations) {
  if (annotations.size() > kAnnotationsOfAKind) {
    const std::size_t more = annotations.size() - (kAnnotationsOfAKind - 1);
    annotations.resize(kAnnotationsOfAKind);
    annotations.back() = {"more", base::Grouped(static_cast<std::int64_t>(more)) +
                                      " more of these are in the step's summary"};
  }
  std::string out;
  for (const Annotation& annotation : annotations) {
    const std::string title = base::Shortened("culprit: " + annotation.title, kWidestTitle);
    const std::string message = base::Shortened(annotation.message, kWidestMessage);
    out += "::" + std::string(kind) + " title=" + CommandText(title, true) +
           "::" + CommandText(message, false) + "\n";
  }
  return out;
}

}  // namespace

std::string WriteGithubSummary(const Report& whole) {
  const Report report = For(Audience::kPeople, whole);
  Allowance allowance(kSummaryBytes);
  // What matters most takes its bytes first; the details share what is left.
  const std::string head = allowance.Keep(MarkdownHead(report));
  const std::string foot = allowance.Keep(MarkdownFoot(report));
  std::vector<std::string> tables;
  std::vector<std::string> notes;
  for (const Table& table : report.tables) {
    notes.push_back(allowance.Keep(MarkdownTableNotes(table)));
    tables.push_back(Unfolded(table, report.incomplete, allowance));
  }
  std::string out = head;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    out += tables[i] + Folded(report.tables[i], report.incomplete, allowance) + notes[i];
  }
  return out + foot;
}

std::string WriteGithubAnnotations(const Report& report) {
  std::vector<Annotation> errors;
  std::vector<Annotation> warnings;
  std::vector<Annotation> notices;
  if (report.incomplete) warnings.push_back({"incomplete", kIncompleteMark});
  if (!report.headline.empty()) notices.push_back({report.title, report.headline.front()});
  for (const Check& check : report.proof) {
    if (!check.holds) errors.push_back({check.id, check.subject + ": " + check.text});
  }
  for (const Note& note : report.notes) {
    if (note.level == Note::Level::kError) errors.push_back({note.id, note.text});
    if (note.level == Note::Level::kWarning) warnings.push_back({note.id, note.text});
    if (note.level == Note::Level::kNotice) notices.push_back({note.id, note.text});
  }
  return Commands("error", std::move(errors)) + Commands("warning", std::move(warnings)) +
         Commands("notice", std::move(notices));
}

}  // namespace culprit::report
