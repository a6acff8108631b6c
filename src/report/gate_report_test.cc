#include "report/gate_report.h"

#include <gmock/gmock.h>

#include <limits>

#include "report/writers.h"

namespace culprit::report {
namespace {

using gate::Position;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;
using testing::Not;

// A text of 32 positions, of which one lost a token that had 12.4 % of the probability.
gate::GateRun Shortlist() {
  gate::Comparison comparison;
  for (int i = 0; i < 32; ++i) {
    Position position{.kl = 0.001,
                      .total_variation = 0.01,
                      .cosine = 0.9995,
                      .top_agrees = true,
                      .recall = 1,
                      .rank = 1,
                      .baseline_logprob = -0.5,
                      .candidate_logprob = -0.5};
    if (i == 16) {
      position.kl = std::numeric_limits<double>::infinity();
      position.total_variation = position.omitted = 0.124;
    }
    comparison.Add(position);
  }
  const auto itself = gate::Summary{.positions = 32, .identical = 32};
  gate::GateRun run{
      .baseline = "dense", .prompt = 20'000, .positions = 32, .baseline_itself = itself};
  run.verdicts.push_back({.label = "head\x1b[31m",
                          .result = Judge({.between = comparison}, gate::DefaultLevel()),
                          .positions = comparison.positions(),
                          .itself = itself});
  return run;
}

TEST(GateReport, NamesThePositionThatFailed) {
  const Report report = GateReport(Shortlist());
  EXPECT_EQ(report.title, "Correctness: 32 positions behind a prompt of 20,000 tokens");
  EXPECT_EQ(report.headline[0],
            "head\\x1b[31m does not answer as dense does, from token 17 on: diverged.");
  EXPECT_EQ(report.headline[1],
            "The total variation is 12.40 % at token 17 of 32, and may be 10.00 % at most.");
  EXPECT_EQ(report.headline[2],
            "The omitted probability is 12.40 % at token 17 of 32, and may be 1.00 % at most.");
  EXPECT_THAT(report.notes, Contains(Field(&Note::id, "gate_failed")));
  EXPECT_THAT(report.notes, Contains(Field(&Note::id, "repeats_itself")).Times(2));
}

TEST(GateReport, ShowsPeopleThePositionsFurthestApart) {
  const Report whole = GateReport(Shortlist());
  ASSERT_EQ(whole.tables.size(), 3u);
  const Table& positions = whole.tables[2];
  EXPECT_EQ(positions.rows.size(), 32u);
  const Report people = For(Audience::kPeople, whole);
  EXPECT_EQ(people.tables[2].rows.size(), 5u);
  EXPECT_EQ(people.tables[2].rows.back().cells[1].text, "17");
  EXPECT_THAT(whole.tables[1].notes,
              Contains(HasSubstr("█ is 12.40 %: ▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂█▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂")));
}

TEST(GateReport, WritesEveryFormat) {
  const Report report = GateReport(Shortlist());
  for (const char* format : {"terminal", "json", "csv", "markdown", "github"}) {
    const std::string text = Write(report, *FormatByName(format), {});
    EXPECT_THAT(text, HasSubstr("diverged")) << format;
    EXPECT_THAT(text, Not(HasSubstr("\x1b"))) << format;
  }
  // Infinite is no number of JSON's.
  EXPECT_THAT(WriteJson(report), HasSubstr("\"kl_nats\":null"));
}

TEST(GateReport, OfIdenticalVariantsIsShort) {
  gate::Comparison comparison;
  comparison.Add({.identical = true, .top_agrees = true});
  gate::GateRun run{.baseline = "a", .prompt = 10, .positions = 1};
  run.verdicts.push_back({.label = "b",
                          .result = Judge({.between = comparison}, gate::DefaultLevel()),
                          .positions = comparison.positions()});
  const Report report = GateReport(run);
  EXPECT_EQ(report.tables.size(), 1u);
  EXPECT_THAT(report.headline, testing::ElementsAre(HasSubstr("identical")));
  EXPECT_TRUE(report.notes.empty());
}

TEST(GateReport, WarnsOfAVariantThatDoesNotRepeatItself) {
  gate::GateRun run = Shortlist();
  gate::Comparison noisy;
  noisy.Add({.identical = false, .total_variation = 0.003});
  run.verdicts[0].itself = noisy.Summarize();
  const Report report = GateReport(run);
  EXPECT_THAT(report.notes,
              Contains(Field(&Note::text, HasSubstr("asked twice it differed at 1 of 1 positions, "
                                                    "by a total variation of 0.30 %"))));
}

}  // namespace
}  // namespace culprit::report
