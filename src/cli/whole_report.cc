#include "cli/whole_report.h"

#include <utility>

#include "base/printable.h"
#include "cli/compare_traces.h"
#include "cli/output.h"
#include "cli/run_report.h"
#include "report/run_report.h"
#include "report/writers.h"
#include "sys/atomic_file.h"

namespace culprit::cli {

WholeReport WholeReportOf(const store::RunDirectory& run, const experiment::Evaluation& evaluation,
                          const AnalysisOptions& options,
                          const std::vector<std::string>& untraced) {
  WholeReport whole{VerdictReport(run, evaluation, "run")};
  whole.report.kind = "run";
  std::vector<std::string> missing = untraced;
  if (evaluation.finished && evaluation.compared() &&
      (!run.traces().empty() || !untraced.empty())) {
    auto attribution = CompareTraces(run, options, true);
    whole.attributed = attribution && untraced.empty();
    if (!attribution) {
      missing.push_back(attribution.error().Text());
    } else {
      whole.report =
          report::RunReport(std::move(whole.report), *std::move(attribution), evaluation);
    }
  }
  for (const std::string& why : missing) {
    whole.report.notes.insert(whole.report.notes.begin(), {report::Note::Level::kWarning,
                                                           "no_attribution", base::Printable(why)});
  }
  AddGateTo(run, whole.report);
  return whole;
}

void KeepPage(const store::RunDirectory& run, const report::Report& report) {
  const auto kept =
      sys::WriteFileAtomically(run.path() + "/report.html", report::WriteHtml(report));
  if (!kept) Say("no page was written: " + kept.error().Text());
}

}  // namespace culprit::cli
