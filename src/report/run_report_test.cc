#include "report/run_report.h"

#include <gmock/gmock.h>

namespace culprit::report {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

experiment::Evaluation With(stats::Verdict decode) {
  experiment::Evaluation evaluation;
  experiment::CandidateResult candidate;
  candidate.summary.label = "q4";
  candidate.decode.verdict = decode;
  evaluation.candidates.push_back(candidate);
  return evaluation;
}

Report Part(const std::string& kind) {
  Report report{.kind = kind, .title = kind + " title"};
  report.headline = {kind + " sentence"};
  report.tables = {{.id = kind}};
  report.notes = {{Note::Level::kInfo, kind, kind + " note"}};
  report.advice = {kind + " advice"};
  return report;
}

std::vector<std::string> Ids(const std::vector<Note>& notes) {
  std::vector<std::string> ids;
  for (const Note& note : notes) ids.push_back(note.id);
  return ids;
}

TEST(RunReport, PutsTheVerdictAboveItsExplanation) {
  const Report report = RunReport(Part("ab"), Part("compare"), With(stats::Verdict::kRegression));
  EXPECT_EQ(report.kind, "run");
  EXPECT_EQ(report.title, "ab title");
  EXPECT_THAT(report.headline, ElementsAre("ab sentence", "compare sentence"));
  ASSERT_EQ(report.tables.size(), 2u);
  EXPECT_EQ(report.tables[1].id, "compare");
  EXPECT_THAT(Ids(report.notes), ElementsAre("ab", "compare"));
  EXPECT_THAT(report.advice, ElementsAre("compare advice"));
}

TEST(RunReport, SaysThatRowsExplainNothingWhereNothingIsProven) {
  for (const auto verdict :
       {stats::Verdict::kInconclusive, stats::Verdict::kNoMeaningfulDifference}) {
    const Report report = RunReport(Part("ab"), Part("compare"), With(verdict));
    EXPECT_THAT(Ids(report.notes), ElementsAre("change_not_proven", "ab", "compare"));
  }
}

TEST(JudgedReport, IsTheAttributionUnderTheVerdict) {
  const Report report =
      JudgedReport(Part("ab"), Part("compare"), With(stats::Verdict::kInconclusive));
  EXPECT_EQ(report.kind, "compare");
  EXPECT_THAT(report.headline, ElementsAre("ab sentence", "compare sentence"));
  EXPECT_EQ(report.tables.size(), 1u);
  EXPECT_THAT(Ids(report.notes), ElementsAre("change_not_proven", "compare"));
}

}  // namespace
}  // namespace culprit::report
