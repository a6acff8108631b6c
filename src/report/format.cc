#include "report/writers.h"

namespace culprit::report {

std::optional<Format> FormatByName(std::string_view name) {
  if (name == "terminal") return Format::kTerminal;
  if (name == "json") return Format::kJson;
  if (name == "csv") return Format::kCsv;
  if (name == "markdown") return Format::kMarkdown;
  if (name == "github") return Format::kGithub;
  if (name == "html") return Format::kHtml;
  return std::nullopt;
}

std::string Write(const Report& report, Format format, const Style& style) {
  switch (format) {
    case Format::kTerminal:
      return WriteTerminal(report, style);
    case Format::kJson:
      return WriteJson(report);
    case Format::kCsv:
      return WriteCsv(report);
    case Format::kMarkdown:
      return WriteMarkdown(report);
    case Format::kGithub:
      return WriteGithubSummary(report);
    case Format::kHtml:
      return WriteHtml(report);
  }
  return "";
}

}  // namespace culprit::report
