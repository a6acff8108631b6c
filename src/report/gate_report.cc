#include "report/gate_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/number_format.h"
#include "base/printable.h"
#include "report/analysis_notes.h"
#include "report/append.h"
#include "report/gate_tables.h"

namespace culprit::report {
namespace {

using base::Printable;
using gate::GateRun;
using gate::Metric;
using gate::Position;
using gate::Summary;
using gate::Verdict;

// What a side may change with its prefix cache before anybody should look: the default level's
// bound for a single position.
constexpr double kCacheWorry = 0.1;
// Source: the ROCm build that was right up to 5,000 tokens and wrote nonsense beyond.
constexpr std::size_t kLongPrompt = 5'000;

// Noise is what a side's two passes came to in all probes together.
void AddNoise(const std::string& label, const std::vector<const std::vector<Position>*>& passes,
              Report& report) {
  std::size_t positions = 0, different = 0;
  double worst = 0;
  for (const auto* pass : passes) {
    const Summary summary = gate::Comparison(*pass).Summarize();
    positions += summary.positions;
    different += summary.positions - summary.identical;
    worst = std::max(worst, summary.Worst(Metric::kTotalVariation));
  }
  if (positions == 0) return;
  std::string text =
      fmt::format("{} repeats itself: asked twice it said the same numbers, bit for bit", label);
  if (different > 0) {
    text = fmt::format(
        "{} does not repeat itself: asked twice it differed at {} of {} positions, by a total "
        "variation of {} at the worst. Only what is beyond that counts",
        label, different, positions, gate::ValueText(Metric::kTotalVariation, worst));
  }
  report.notes.push_back({different > 0 ? Note::Level::kWarning : Note::Level::kInfo,
                          different > 0 ? "self_noise" : "repeats_itself", std::move(text)});
}

void AddAllNoise(const GateRun& run, const std::vector<Verdict>& verdicts, Report& report) {
  std::vector<const std::vector<Position>*> passes;
  for (const auto& probe : run.probes) passes.push_back(&probe.baseline_itself);
  AddNoise(Printable(run.baseline), passes, report);
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    passes.clear();
    for (const auto& probe : run.probes) passes.push_back(&probe.candidates[i].itself);
    AddNoise(Printable(verdicts[i].label), passes, report);
  }
}

// What the baseline does as well is no fault of a candidate, and may be one all the same.
void AddBaselineFaults(const GateRun& run, Report& report) {
  const std::string baseline = Printable(run.baseline);
  for (const auto& probe : run.probes) {
    const std::string name = NameOf(run, probe, baseline);
    if (probe.baseline_cache && probe.baseline_cache->total_variation > kCacheWorry) {
      report.notes.push_back(
          {Note::Level::kWarning, "cache_changes_answers",
           fmt::format(
               "{} answers otherwise with its prefix cache than without: the total "
               "variation is {}",
               name,
               gate::ValueText(Metric::kTotalVariation, probe.baseline_cache->total_variation))});
    }
    if (probe.baseline_loop && !probe.ubatch) {
      report.notes.push_back(
          {Note::Level::kNotice, "baseline_loops",
           fmt::format("{} goes in circles from token {} on: a candidate that does so too is not "
                       "blamed",
                       name, probe.baseline_loop->from + 1)});
    }
  }
}

// What was not looked at, where that is where bugs were found before.
void AddCoverage(const GateRun& run, Report& report) {
  const auto longest = std::max_element(
      run.probes.begin(), run.probes.end(),
      [](const auto& one, const auto& other) { return one.prompt < other.prompt; });
  if (longest->positions < gate::kFewPositions) {
    report.notes.push_back(
        {Note::Level::kNotice, "few_positions",
         fmt::format("{} positions are fewer than {}: only the worst of them was "
                     "held against a bound, and more may find more",
                     longest->positions, gate::kFewPositions)});
  }
  if (longest->prompt > kLongPrompt) return;
  report.notes.push_back(
      {Note::Level::kNotice, "short_prompts",
       fmt::format("no prompt was longer than {} tokens: builds are known that are right up to {} "
                   "and wrong beyond",
                   base::Grouped(static_cast<std::int64_t>(longest->prompt)),
                   base::Grouped(static_cast<std::int64_t>(kLongPrompt)))});
}

// The answer about a candidate, by the probe that came out worst, and what its neighbours need.
std::vector<std::string> Sentences(const GateRun& run, const Verdict& verdict) {
  const std::string label = Printable(verdict.label);
  const std::string where = NameOf(run, run.probes[verdict.worst], label);
  // What passes does so behind all texts; what does not is told of one.
  auto sentences =
      Explain(verdict.result(), Printable(run.baseline), verdict.passed() ? label : where);
  if (run.probes.size() > 1) {
    sentences.push_back(
        verdict.passed()
            ? fmt::format("The figures are of {}, the worst of {} texts.", where, run.probes.size())
            : fmt::format("Of {} texts this is the worst.", run.probes.size()));
  }
  return sentences;
}

void AddVerdictNote(const Verdict& verdict, Report& report) {
  const std::string label = Printable(verdict.label);
  if (verdict.excused()) {
    report.notes.push_back({Note::Level::kWarning, "approximate",
                            fmt::format("{} is said to be approximate, and so passes the gate "
                                        "although it diverged",
                                        label)});
  } else if (!verdict.passed()) {
    report.notes.push_back(
        {Note::Level::kError, "gate_failed",
         fmt::format("{} did not pass the gate: {}", label, Name(verdict.result().outcome))});
  }
}

void AddNotes(const GateRun& run, const std::vector<Verdict>& verdicts, Report& report) {
  for (const Verdict& verdict : verdicts) AddVerdictNote(verdict, report);
  AddAllNoise(run, verdicts, report);
  AddBaselineFaults(run, report);
  AddCoverage(run, report);
}

// Who takes a speed out of a table for machines finds beside it whether it may be claimed.
void MarkSpeeds(const std::vector<Verdict>& verdicts, Report& report) {
  for (Table& table : report.tables) {
    if (table.id != "verdicts") continue;
    table.columns.push_back({"gate", "", Column::Kind::kText, Audience::kMachines});
    for (Row& row : table.rows) {
      const auto verdict =
          std::find_if(verdicts.begin(), verdicts.end(), [&row](const Verdict& each) {
            return row.cells.front().value == Value(Printable(each.label));
          });
      Cell cell{"", std::monostate()};
      if (verdict != verdicts.end()) cell.value = std::string(Name(verdict->result().outcome));
      row.cells.push_back(std::move(cell));
    }
  }
}

std::string TitleOf(const GateRun& run) {
  std::vector<std::string> prompts;
  for (const auto& probe : run.probes) {
    std::string prompt = base::Grouped(static_cast<std::int64_t>(probe.prompt));
    if (std::find(prompts.begin(), prompts.end(), prompt) == prompts.end()) {
      prompts.push_back(std::move(prompt));
    }
  }
  return fmt::format("Correctness: {} positions behind a prompt of {} tokens",
                     base::Grouped(static_cast<std::int64_t>(run.probes.front().positions)),
                     fmt::join(prompts, " and of "));
}

}  // namespace

Report GateReport(const GateRun& run) {
  const auto verdicts = gate::JudgeRun(run);
  Report report{.kind = "gate", .title = TitleOf(run)};
  for (const Verdict& verdict : verdicts) Append(Sentences(run, verdict), report.headline);
  AddNotes(run, verdicts, report);
  report.tables = GateTables(run, verdicts);
  return report;
}

void AddGate(const GateRun& run, Report& report) {
  const auto verdicts = gate::JudgeRun(run);
  std::vector<std::string> failed, passed;
  for (const Verdict& verdict : verdicts) {
    const auto sentences = Sentences(run, verdict);
    if (verdict.passed()) {
      passed.push_back(sentences.front());
      continue;
    }
    failed.push_back("Not the same answers, so no speed to claim: " + sentences.front());
    if (sentences.size() > 1) failed.push_back(sentences[1]);  // the first reason
  }
  report.headline.insert(report.headline.begin(), failed.begin(), failed.end());
  Append(std::move(passed), report.headline);
  AddNotes(run, verdicts, report);
  SortNotes(report.notes);
  report.tables.push_back(GateTables(run, verdicts).front());
  MarkSpeeds(verdicts, report);
}

void AddNoGate(std::string_view why, Report& report) {
  report.notes.push_back({Note::Level::kNotice, "no_gate",
                          fmt::format("no correctness gate was run ({}): nothing says that the "
                                      "answers are the same",
                                      why)});
  SortNotes(report.notes);
}

}  // namespace culprit::report
