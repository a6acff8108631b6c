#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "report/report.h"

namespace culprit::report {

// Style is what a writer may know of where its text goes.
struct Style {
  std::size_t width = 100;  // columns of a terminal; writers of files ignore it
  bool color = false;       // ANSI colours; only the terminal writer has any
};

// Each writer returns the whole text, ending in one newline, in time and memory linear in the
// report. Text may be shortened (with "…") where people read it, never in CSV and JSON.

// Terminal: no line is wider than Style::width (at least 40) unless one number and its row's label
// are, or one word of a sentence, such as a path, which stays whole to be copied. Text columns give
// way first; a table that is still too wide goes on in a second block that repeats the label.
std::string WriteTerminal(const Report& report, const Style& style);

// Markdown is GitHub's dialect, made to be pasted into a pull request. Details are rows whose label
// is a code span.
std::string WriteMarkdown(const Report& report);

// GitHub takes two texts in two places, and neither does any good in the other's:
// the summary, Markdown with the details folded away and below 1 MiB, is appended to the file that
// $GITHUB_STEP_SUMMARY names (or goes where -o says); the annotations, lines such as
// "::warning title=…::…", at most 10 of a kind, go to stdout, where the runner obeys them.
// Annotations are "" where a report has nothing to say in them.
std::string WriteGithubSummary(const Report& report);
std::string WriteGithubAnnotations(const Report& report);

// CSV (RFC 4180) has one table after another, each under its own header line. The first column,
// "table", names the table, the second, "row", tells "row", "detail" (a part of the row above) and
// "total" apart. The proof, the notes and the other sentences follow as tables of their own. All
// lines of an incomplete report begin with one column more, "incomplete", which is 1.
std::string WriteCsv(const Report& report);

// JSON follows schema/report.schema.json; "schema_version" names its version.
std::string WriteJson(const Report& report);

// HTML is one page that loads nothing and runs no script, so that it can be opened from a mail and
// whatever a name holds does nothing. Details are folded away until asked for; light and dark, and
// all of it on paper.
std::string WriteHtml(const Report& report);

enum class Format { kTerminal, kJson, kCsv, kMarkdown, kGithub, kHtml };
// FormatByName knows the names that --format takes; absent for others.
std::optional<Format> FormatByName(std::string_view name);
// Write returns the report in a format; for kGithub that is the summary.
std::string Write(const Report& report, Format format, const Style& style);

}  // namespace culprit::report
