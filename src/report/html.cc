#include <fmt/format.h>

#include <cctype>
#include <utility>
#include <vector>

#include "base/printable.h"
#include "report/writers.h"

namespace culprit::report {

// data/report.css, name and content; made by cmake/EmbedFiles.cmake.
extern const std::vector<std::pair<std::string_view, std::string_view>> kReportStyle;

namespace {

// A name of 64 KB is shown by its begin, and whole names are what CSV and JSON are for.
constexpr std::size_t kWidestCell = 240;

// Escaped returns printable text that is neither markup nor leaves an attribute.
std::string Escaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string Element(std::string_view name, std::string_view of_class, std::string_view text) {
  return fmt::format("<{0} class=\"{1}\">{2}</{0}>\n", name, of_class, Escaped(text));
}

std::string NoteItem(const Note& note) {
  const std::string_view level = Name(note.level);
  std::string word(level);
  word[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(word[0])));
  return fmt::format("<li class=\"{}\">{}{}</li>\n", level,
                     note.level == Note::Level::kInfo ? "" : "<b>" + word + ":</b> ",
                     Escaped(note.text));
}

std::string Notes(const Report& report, bool severe) {
  std::string items;
  for (const Note& note : report.notes) {
    if (note.severe() == severe) items += NoteItem(note);
  }
  return items.empty() ? "" : "<ul>\n" + items + "</ul>\n";
}

std::string Proof(const Report& report) {
  if (report.proof.empty()) return "";
  std::string out = "<section id=\"completeness\">\n<h2>Completeness</h2>\n<ul>\n";
  for (const Check& check : report.proof) {
    out += fmt::format("<li class=\"{}\"><b>{}</b> {}</li>\n", check.holds ? "holds" : "broken",
                       Escaped(base::Shortened(check.subject, kWidestCell)), Escaped(check.text));
  }
  return out + "</ul>\n</section>\n";
}

std::string_view ClassOf(const Row& row) {
  if (row.depth > 0) return "detail";
  switch (row.emphasis) {
    case Emphasis::kStrong:
      return "strong";
    case Emphasis::kTotal:
      return "total";
    case Emphasis::kFaint:
      return "faint";
    case Emphasis::kNone:
      return "plain";
  }
  return "plain";
}

bool IsText(const Column& column) { return column.kind == Column::Kind::kText; }

// The first cell names its row; that of a row with details folds them away and back.
std::string RowText(const Table& table, const Row& row, bool folds) {
  std::string out = fmt::format("<tr class=\"{}\">", ClassOf(row));
  for (std::size_t i = 0; i < row.cells.size(); ++i) {
    const std::string text = Escaped(base::Shortened(row.cells[i].text, kWidestCell));
    const char* const of_class = IsText(table.columns[i]) ? " class=\"text\"" : "";
    if (i > 0) {
      out += fmt::format("<td{}>{}</td>", of_class, text);
    } else if (folds) {
      out += fmt::format(
          "<th scope=\"row\"{}><label class=\"fold\"><input type=\"checkbox\">{}</label></th>",
          of_class, text);
    } else {
      out += fmt::format("<th scope=\"row\"{}>{}</th>", of_class, text);
    }
  }
  return out + "</tr>\n";
}

// A row and its details are one body, so that the style sheet can fold it.
std::string Bodies(const Table& table) {
  std::string out;
  const auto& rows = table.rows;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool begins = i == 0 || rows[i].depth == 0;
    if (begins) out += i == 0 ? "<tbody>\n" : "</tbody>\n<tbody>\n";
    const bool folds = begins && i + 1 < rows.size() && rows[i + 1].depth > 0;
    out += RowText(table, rows[i], folds);
  }
  return out + (rows.empty() ? "" : "</tbody>\n");
}

std::string TableText(const Table& table, bool incomplete) {
  std::string out =
      fmt::format("<section id=\"{0}\">\n<h2>{1}</h2>\n", Escaped(table.id), Escaped(table.title));
  if (incomplete) out += Element("p", "incomplete", kIncompleteMark);
  if (!table.columns.empty() && !table.rows.empty()) {
    out += fmt::format(
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table>"
        "<caption>{0}</caption>\n<thead><tr>",
        Escaped(table.title));
    for (const Column& column : table.columns) {
      out += fmt::format("<th scope=\"col\"{}>{}</th>", IsText(column) ? " class=\"text\"" : "",
                         Escaped(base::Shortened(column.heading, kWidestCell)));
    }
    out += "</tr></thead>\n" + Bodies(table) + "</table></div>\n";
  }
  for (const std::string& note : table.notes) out += Element("p", "notes", note);
  return out + "</section>\n";
}

std::string Contents(const Report& report) {
  if (report.tables.size() < 3) return "";
  std::string out = "<nav aria-label=\"Contents\">\n";
  for (const Table& table : report.tables) {
    out += fmt::format("<a href=\"#{}\">{}</a>\n", Escaped(table.id), Escaped(table.title));
  }
  return out + "</nav>\n";
}

// Nothing is loaded from anywhere and no script runs, whatever a name holds.
std::string Head(const Report& report) {
  std::string out =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  out += fmt::format("<title>{}</title>\n<style>\n{}</style>\n</head>\n", Escaped(report.title),
                     kReportStyle.front().second);
  return out;
}

}  // namespace

std::string WriteHtml(const Report& whole) {
  const Report report = For(Audience::kPeople, whole);
  std::string out = Head(report) + "<body>\n<main>\n<header>\n";
  out += fmt::format("<h1>{}</h1>\n", Escaped(report.title));
  if (report.incomplete) out += Element("p", "incomplete", kIncompleteMark);
  for (std::size_t i = 0; i < report.headline.size(); ++i) {
    out += Element("p", i == 0 ? "answer" : "more", report.headline[i]);
  }
  out += "</header>\n" + Notes(report, true) + Contents(report) + Proof(report);
  for (const Table& table : report.tables) out += TableText(table, report.incomplete);
  const std::string notes = Notes(report, false);
  if (!notes.empty()) out += "<section id=\"notes\">\n<h2>Notes</h2>\n" + notes + "</section>\n";
  if (!report.advice.empty()) {
    out += "<section id=\"next\">\n<h2>What to look at next</h2>\n";
    for (const std::string& advice : report.advice) out += Element("p", "more", advice);
    out += "</section>\n";
  }
  return out + "</main>\n<footer>Written by culprit.</footer>\n</body>\n</html>\n";
}

}  // namespace culprit::report
