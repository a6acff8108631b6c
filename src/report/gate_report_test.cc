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
  std::vector<Position> positions;
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
    positions.push_back(position);
  }
  const std::vector<Position> itself(32, Position{.identical = true});
  gate::Probe probe{.prompt = 20'000, .positions = 32, .baseline_itself = itself};
  probe.candidates = {{.label = "head\x1b[31m", .positions = positions, .itself = itself}};
  return {.baseline = "dense", .probes = {probe}};
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
  gate::Probe probe{.prompt = 6'000, .positions = 100};
  probe.candidates = {{.label = "b", .positions = {{.identical = true, .top_agrees = true}}}};
  const Report report = GateReport({.baseline = "a", .probes = {probe}});
  EXPECT_EQ(report.tables.size(), 1u);
  EXPECT_THAT(report.headline, testing::ElementsAre(HasSubstr("identical")));
  EXPECT_TRUE(report.notes.empty());
}

// Two texts, of which the longer is the worse.
gate::GateRun TwoTexts() {
  gate::GateRun run = Shortlist();
  run.probes.insert(run.probes.begin(), run.probes.front());
  run.probes[0].prompt = 500;
  run.probes[0].candidates[0].positions.resize(16);
  return run;
}

TEST(GateReport, SaysWhichOfSeveralTextsIsMeant) {
  const Report report = GateReport(TwoTexts());
  EXPECT_EQ(report.title, "Correctness: 32 positions behind a prompt of 500 and of 20,000 tokens");
  EXPECT_THAT(report.headline, Contains("Of 2 texts this is the worst."));
  EXPECT_EQ(report.headline[0],
            "head\\x1b[31m behind 20,000 tokens does not answer as dense does, from token 17 on: "
            "diverged.");
  const Report people = For(Audience::kPeople, report);
  EXPECT_EQ(people.tables[0].columns[1].heading, "prompt");
  EXPECT_EQ(people.tables[0].rows.size(), 2u);
}

TEST(GateReport, StandsAboveASpeedThatIsNoGain) {
  Report report{.kind = "ab", .headline = {"head decodes faster."}};
  AddGate(Shortlist(), report);
  ASSERT_EQ(report.headline.size(), 3u);
  EXPECT_THAT(report.headline[0], HasSubstr("Not the same answers, so no speed to claim: "));
  EXPECT_THAT(report.headline[1], HasSubstr("The total variation is 12.40 % at token 17"));
  EXPECT_EQ(report.headline[2], "head decodes faster.");
  EXPECT_EQ(report.tables.size(), 1u);
  EXPECT_EQ(report.notes[0].id, "gate_failed");
}

TEST(GateReport, StandsBelowASpeedThatMayBeClaimed) {
  gate::GateRun run = Shortlist();
  run.approximate = {run.probes[0].candidates[0].label};
  Report report{.kind = "ab", .headline = {"head decodes faster."}};
  AddGate(run, report);
  ASSERT_EQ(report.headline.size(), 2u);
  EXPECT_THAT(report.headline[1], HasSubstr("diverged"));
  EXPECT_EQ(report.notes[0].id, "approximate");
  AddNoGate("--no-gate", report);
  EXPECT_THAT(report.notes, Contains(Field(&Note::text, HasSubstr("was run (--no-gate)"))));
}

TEST(GateReport, TellsWhatTheBaselineDoesAsWell) {
  gate::GateRun run = Shortlist();
  run.probes[0].prompt = 5'000;
  run.probes[0].baseline_loop = gate::Loop{.period = 2, .times = 40, .from = 8};
  run.probes[0].baseline_cache = Position{.total_variation = 0.3};
  std::vector<std::string> ids;
  for (const Note& note : GateReport(run).notes) ids.push_back(note.id);
  EXPECT_THAT(ids,
              testing::IsSupersetOf({"baseline_loops", "cache_changes_answers", "short_prompts"}));
}

TEST(GateReport, WarnsOfAVariantThatDoesNotRepeatItself) {
  gate::GateRun run = Shortlist();
  run.probes[0].candidates[0].itself = {{.identical = false, .total_variation = 0.003}};
  const Report report = GateReport(run);
  EXPECT_THAT(report.notes,
              Contains(Field(&Note::text, HasSubstr("asked twice it differed at 1 of 1 positions, "
                                                    "by a total variation of 0.30 %"))));
}

}  // namespace
}  // namespace culprit::report
