#pragma once

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

// Each writer returns the whole text, ending in one newline.
std::string WriteTerminal(const Report& report, const Style& style);
std::string WriteMarkdown(const Report& report);
// GitHub's step summary is Markdown with the kernels folded into <details>; annotations are
// workflow commands ("::warning title=…::…"), at most 10 of each kind, and belong on stdout.
std::string WriteGithub(const Report& report);
// CSV has one table after another: a header line each, a "table" column in front, every row.
std::string WriteCsv(const Report& report);
// JSON follows schema/report.schema.json; "schema_version" names its version.
std::string WriteJson(const Report& report);

enum class Format { kTerminal, kJson, kCsv, kMarkdown, kGithub };
// FormatByName knows the names that --format takes; absent for others.
std::optional<Format> FormatByName(std::string_view name);
std::string Write(const Report& report, Format format, const Style& style);

}  // namespace culprit::report
