#include "report/traces_report.h"

#include <gmock/gmock.h>

namespace culprit::report {
namespace {

using experiment::TrialRecord;
using testing::ElementsAre;

TrialRecord Traced(const std::string& variant) {
  TrialRecord trial{.variant = variant, .collector = "rocprofv3"};
  trial.completion.emplace();
  trial.trace = experiment::CollectedTrace{.file = "1_results.db",
                                           .bytes = 100 << 20,
                                           .flush = std::chrono::milliseconds(1500),
                                           .how = "the server stopped by itself",
                                           .notes = {"another process wrote 2_results.db"}};
  return trial;
}

TEST(TracesReport, NamesEachTraceAndNoTimeOfItsRequest) {
  TrialRecord f16 = Traced("f16"), q4 = Traced("q4");
  TrialRecord lost = Traced("lost");
  lost.trace.reset();
  lost.objections = {{"trace_failed", "torn"}};
  const std::vector<KeptTrace> kept = {
      {f16, "run/traces/001-f16"}, {lost, "run/traces/002-lost"}, {q4, "run/traces/003-q4"}};
  const Report report = TracesReport("run", kept, std::vector<std::string>{"lost has no trace"});
  EXPECT_THAT(report.headline, ElementsAre("2 kept, 1 missing."));
  ASSERT_EQ(report.tables.size(), 1u);
  ASSERT_EQ(report.tables[0].rows.size(), 2u);
  std::vector<std::string> cells;
  for (const Cell& cell : report.tables[0].rows[0].cells) cells.push_back(cell.text);
  EXPECT_THAT(cells, ElementsAre("f16", "rocprofv3", "100.0 MiB", "1.500 s",
                                 "run/traces/001-f16/1_results.db"));
  EXPECT_EQ(report.notes.front().text, "lost has no trace");
  EXPECT_THAT(report.advice, ElementsAre("where its time went: culprit analyze run/traces/001-f16"))
      << "nothing to compare with: the baseline's trace is missing";
  f16.baseline = true;
  EXPECT_THAT(TracesReport("my run", kept, {}).advice,
              ElementsAre("which kernels differ: culprit compare 'my run'"));
}

}  // namespace
}  // namespace culprit::report
