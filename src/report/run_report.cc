#include "report/run_report.h"

#include <fmt/format.h>

#include "base/printable.h"
#include "report/analysis_notes.h"
#include "report/append.h"

namespace culprit::report {
namespace {

void AddNotProven(const experiment::Evaluation& evaluation, std::vector<Note>& notes) {
  using stats::Verdict;
  for (const auto& candidate : evaluation.candidates) {
    const Verdict decode = candidate.decode.verdict;
    if (decode == Verdict::kRegression || decode == Verdict::kImprovement) continue;
    notes.push_back({Note::Level::kWarning, "change_not_proven",
                     fmt::format("{}: the verdict on decode is \"{}\": rows that explain a "
                                 "change explain none that is proven",
                                 base::Printable(candidate.summary.label), Describe(decode))});
  }
}

}  // namespace

Report RunReport(Report verdict, Report attribution, const experiment::Evaluation& evaluation) {
  Report report = std::move(verdict);
  report.kind = "run";
  report.incomplete = attribution.incomplete;
  Append(std::move(attribution.headline), report.headline);
  Append(std::move(attribution.proof), report.proof);
  Append(std::move(attribution.tables), report.tables);
  Append(std::move(attribution.notes), report.notes);
  report.advice = std::move(attribution.advice);  // the verdict's is to take traces
  AddNotProven(evaluation, report.notes);
  SortNotes(report.notes);
  return report;
}

Report JudgedReport(Report verdict, Report attribution, const experiment::Evaluation& evaluation) {
  Report report = std::move(attribution);
  report.headline.insert(report.headline.begin(), verdict.headline.begin(), verdict.headline.end());
  AddNotProven(evaluation, report.notes);
  SortNotes(report.notes);
  return report;
}

}  // namespace culprit::report
