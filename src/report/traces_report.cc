#include "report/traces_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/number_format.h"
#include "base/printable.h"
#include "experiment/words.h"

namespace culprit::report {
namespace {

using base::Printable;
using experiment::TrialRecord;

Row RowOf(const KeptTrace& kept) {
  const TrialRecord& trial = kept.trial;
  const auto& trace = *trial.trace;
  const auto bytes = static_cast<std::int64_t>(trace.bytes);
  const std::string path = Printable(kept.folder + "/" + trace.file);
  return {.cells = {{Printable(trial.variant), Printable(trial.variant)},
                    {Printable(trial.collector), Printable(trial.collector)},
                    {base::Bytes(trace.bytes), bytes},
                    {base::Seconds(trace.flush), trace.flush.count()},
                    {path, path}}};
}

}  // namespace

Report TracesReport(const std::string& run, std::span<const KeptTrace> traces,
                    std::span<const std::string> missing) {
  Report report{.kind = "trace", .title = fmt::format("Traces in {}", Printable(run))};
  using Kind = Column::Kind;
  Table table{.id = "traces",
              .title = "One request of each variant under a collector: a trace, and no speed",
              .columns = {{"variant", "variant", Kind::kText},
                          {"collector", "collector", Kind::kText},
                          {"bytes", "size"},
                          {"flush_ns", "written in"},
                          {"file", "file", Kind::kText}}};
  std::size_t valid = 0;
  for (const KeptTrace& kept : traces) {
    if (!kept.trial.valid() || !kept.trial.trace) continue;
    ++valid;
    table.rows.push_back(RowOf(kept));
    const std::string label = Printable(kept.trial.variant);
    report.notes.push_back(
        {Note::Level::kInfo, "how", label + ": " + Printable(kept.trial.trace->how)});
    for (const std::string& note : kept.trial.trace->notes) {
      report.notes.push_back({Note::Level::kNotice, "collector", label + ": " + Printable(note)});
    }
  }
  report.headline.push_back(missing.empty()
                                ? fmt::format("{} trace{} kept.", valid, valid == 1 ? "" : "s")
                                : fmt::format("{} kept, {} missing.", valid, missing.size()));
  for (const std::string& why : missing) {
    report.notes.insert(report.notes.begin(), {Note::Level::kWarning, "missing", Printable(why)});
  }
  if (!table.rows.empty()) report.tables.push_back(std::move(table));
  const bool baseline = std::any_of(traces.begin(), traces.end(), [](const KeptTrace& kept) {
    return kept.trial.valid() && kept.trial.baseline;
  });
  if (valid > 1 && baseline) {
    report.advice.push_back("which kernels differ: culprit compare " +
                            Printable(experiment::AsWord(run)));
  } else if (valid > 0) {
    const auto it = std::find_if(traces.begin(), traces.end(),
                                 [](const KeptTrace& kept) { return kept.trial.valid(); });
    report.advice.push_back("where its time went: culprit analyze " +
                            Printable(experiment::AsWord(it->folder)));
  }
  return report;
}

}  // namespace culprit::report
