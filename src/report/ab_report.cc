#include "report/ab_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/number_format.h"
#include "base/printable.h"
#include "experiment/words.h"
#include "report/ab_tables.h"
#include "report/analysis_notes.h"

namespace culprit::report {
namespace {

using base::Fraction;
using base::NanosF;
using base::Printable;
using experiment::CandidateResult;
using experiment::Evaluation;
using experiment::Judgement;
using experiment::Metric;
using experiment::Spec;
using experiment::VariantSummary;
using stats::Verdict;

std::string Counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// "+39.5 %, 98.2 % interval +36.1 to +42.9 %, 6 pairs"
std::string Evidence(const Judgement& judgement) {
  const auto& comparison = *judgement.comparison;
  std::string text = base::SignedPercent(comparison.change());
  if (comparison.interval) {
    text +=
        fmt::format(", {} interval {} to {}", base::Percent(Fraction(1 - comparison.level)),
                    ChangeText(comparison.interval->low), ChangeText(comparison.interval->high));
  }
  return text + ", " + Counted(comparison.pairs, "pair");
}

// Pairs added to a run because of what it said are no fair test: it takes another run.
std::string MorePairs(const Judgement& judgement) {
  if (judgement.more_pairs) {
    return fmt::format("about {} would tell: run anew with --pairs {}",
                       Counted(*judgement.more_pairs, "more pair"),
                       judgement.pairs.size() + *judgement.more_pairs);
  }
  return "no reasonable number of pairs would tell on a machine as noisy as this";
}

// Ms is the difference in a median cost: "1.454 ms".
std::string Ms(double ms) { return base::Millis(NanosF(std::abs(ms) * 1e6)) + " ms"; }

// AaAnswer is the same of a server that is compared with itself: what differs is noise.
std::string AaAnswer(const std::string& candidate, const std::string& baseline,
                     const Judgement& judgement) {
  return fmt::format("{} is the same server as {}, an A/A: {} differed by {}, which is noise.",
                     candidate, baseline, Name(judgement.metric), Evidence(judgement));
}

// Answer is the sentence about one metric that was compared: "q4 decodes 1.454 ms per token slower
// than f16 (…): regression."
std::string Answer(const std::string& candidate, const std::string& baseline,
                   const Judgement& judgement) {
  const bool decode = judgement.metric == Metric::kDecode;
  const std::string verb = decode ? "decodes" : "reads its prompt";
  const auto& comparison = *judgement.comparison;
  const double ms = comparison.baseline_median * std::expm1(comparison.log_ratio);
  switch (judgement.verdict) {
    case Verdict::kRegression:
    case Verdict::kImprovement:
      return fmt::format("{} {} {} per token {} than {} ({}): {}.", candidate, verb, Ms(ms),
                         ms > 0 ? "slower" : "faster", baseline, Evidence(judgement),
                         Describe(judgement.verdict));
    case Verdict::kNoMeaningfulDifference:
      return fmt::format("{} {} as fast as {} within {} ({}): {}.", candidate, verb, baseline,
                         base::Percent(Change(judgement.margin.log())), Evidence(judgement),
                         Describe(judgement.verdict));
    case Verdict::kInconclusive:
      break;
  }
  const bool clear =
      comparison.interval && comparison.interval->low * comparison.interval->high > 0;
  // Three pairs may decide beside a noise that was measured, fewer never.
  if (clear && comparison.pairs < (judgement.margin.floor ? 3 : 4)) {
    return fmt::format("{} {} {} per token {} than {} ({}), but {} prove nothing{}: {}; {}.",
                       candidate, verb, Ms(ms), ms > 0 ? "slower" : "faster", baseline,
                       Evidence(judgement), Counted(comparison.pairs, "pair"),
                       judgement.margin.floor ? "" : " while this machine's noise is not known",
                       Describe(judgement.verdict), MorePairs(judgement));
  }
  return fmt::format("Whether {} {} slower or faster than {} is not decided ({}): {}; {}.",
                     candidate, verb, baseline, Evidence(judgement), Describe(judgement.verdict),
                     MorePairs(judgement));
}

std::string_view Id(stats::Warning warning) {
  switch (warning) {
    case stats::Warning::kFewPairs:
      return "few_pairs";
    case stats::Warning::kDrift:
      return "drift";
    case stats::Warning::kOrderEffect:
      return "order_effect";
    case stats::Warning::kBlocked:
      return "blocked_order";
    case stats::Warning::kUnstable:
      return "unstable";
    default:
      return "weak_numbers";
  }
}

// ReachesBelowMargin tells whether the true change may be one that does not matter.
bool ReachesBelowMargin(const Judgement& judgement) {
  const auto& interval = *judgement.comparison->interval;
  return std::min(std::abs(interval.low), std::abs(interval.high)) < judgement.margin.log();
}

// A difference that is hardly one, on a machine whose noise nobody measured.
void AddUnknownFloorNote(const CandidateResult& candidate, const Judgement& judgement,
                         std::vector<Note>& notes) {
  const bool differs = judgement.verdict == stats::Verdict::kRegression ||
                       judgement.verdict == stats::Verdict::kImprovement;
  if (!differs || judgement.margin.floor || !ReachesBelowMargin(judgement)) return;
  notes.push_back(
      {Note::Level::kNotice, "floor_unknown",
       fmt::format("{}, {}: the interval reaches below the margin of {}, as one in twenty does "
                   "between equal servers. Run it again; culprit ab --aa measures the noise floor "
                   "of a machine, which is the margin from then on",
                   Printable(candidate.summary.label), Name(judgement.metric),
                   base::Percent(judgement.margin.wanted))});
}

void AddCandidateNotes(const Spec& spec, const CandidateResult& candidate,
                       std::vector<Note>& notes) {
  using Level = Note::Level;
  const std::string label = Printable(candidate.summary.label);
  for (const Judgement* judgement : {&candidate.decode, &candidate.prefill}) {
    if (!judgement->comparison) continue;
    if (judgement->metric == Metric::kPrefill && spec.workload.cache_prompt) continue;
    for (const stats::Warning warning : judgement->comparison->warnings) {
      notes.push_back(
          {Level::kWarning, std::string(Id(warning)),
           fmt::format("{}, {}: {}", label, Name(judgement->metric), Describe(warning))});
    }
    AddUnknownFloorNote(candidate, *judgement, notes);
  }
  if (candidate.same_objects && !spec.design.same_variant) {
    notes.push_back({Level::kWarning, "same_identity",
                     fmt::format("{} is the same server as the baseline: same files, arguments and "
                                 "environment. A difference is the machine's noise, whatever the "
                                 "verdict",
                                 label)});
  }
  const bool unnamed = std::any_of(candidate.differences.begin(), candidate.differences.end(),
                                   [](const auto& difference) { return !difference.named; });
  if (unnamed) {
    notes.push_back({Level::kWarning, "residue",
                     fmt::format("{} differs from the baseline in something that nothing you "
                                 "changed explains: see \"What differs between the servers\"",
                                 label)});
  }
  if (!candidate.same_text) {
    notes.push_back({Level::kNotice, "texts_differ",
                     fmt::format("{} generated another text than the baseline", label)});
  }
  const bool same = candidate.same_objects || spec.design.same_variant;
  const bool screening = spec.workload.screening() && !same;
  if (screening && candidate.decode.verdict == Verdict::kImprovement) {
    notes.push_back({Level::kWarning, "not_yet_proven",
                     fmt::format("{}: not yet proven. A screening of {} tokens can dismiss a "
                                 "variant, not prove one; measure with --workload sustained",
                                 label, Count(spec.workload.output))});
  }
  if (screening && candidate.decode.verdict == Verdict::kRegression) {
    notes.push_back(
        {Level::kNotice, "dismissed",
         fmt::format("{}: {} tokens are a screening, and a loss there ends it: a longer run is not "
                     "needed",
                     label, Count(spec.workload.output))});
  }
}

// A margin that is not the one that was asked for.
void AddFloorNote(const Judgement& judgement, std::vector<Note>& notes) {
  const auto& margin = judgement.margin;
  if (!margin.floor || *margin.floor <= margin.wanted) return;
  notes.push_back({Note::Level::kNotice, "noise_floor",
                   fmt::format("{}: the margin is {}, which one variant against itself has shown "
                               "on this machine, instead of {}",
                               Name(judgement.metric), base::Percent(*margin.floor),
                               base::Percent(margin.wanted))});
}

void AddNotFinished(const Evaluation& evaluation, const AbContext& context,
                    std::vector<Note>& notes) {
  if (context.finished) return;
  notes.push_back(
      {Note::Level::kWarning, "not_finished",
       fmt::format("the experiment did not come to its end; {0}culprit {2} --resume {1} "
                   "goes on with it",
                   evaluation.ended_by_void
                       ? fmt::format("once that is mended (the variants stand in "
                                     "{}/experiment.toml), ",
                                     Printable(context.where))
                       : "",
                   Printable(experiment::AsWord(context.where)), context.command)});
}

// A device that ran at another clock under one variant may be what made it slower.
void AddClockNote(const VariantSummary& baseline, const VariantSummary& candidate,
                  std::vector<Note>& notes) {
  if (!baseline.core_clock_mhz || !candidate.core_clock_mhz || *baseline.core_clock_mhz <= 0)
    return;
  const Fraction change(*candidate.core_clock_mhz / *baseline.core_clock_mhz - 1);
  if (std::abs(change.value()) <= 0.01) return;
  notes.push_back({Note::Level::kWarning, "clocks_differ",
                   fmt::format("the device's clock was {} with {}: {} against {} MHz",
                               base::SignedPercent(change), Printable(candidate.label),
                               base::Plain(std::round(*candidate.core_clock_mhz)),
                               base::Plain(std::round(*baseline.core_clock_mhz)))});
}

void AddNotes(const Spec& spec, const Evaluation& evaluation, const AbContext& context,
              std::vector<Note>& notes) {
  using Level = Note::Level;
  AddNotFinished(evaluation, context, notes);
  for (const CandidateResult& candidate : evaluation.candidates) {
    AddCandidateNotes(spec, candidate, notes);
    AddClockNote(evaluation.baseline, candidate.summary, notes);
  }
  if (evaluation.client_disagrees > 0) {
    notes.push_back({Level::kWarning, "client_disagrees",
                     fmt::format("in {} the client's times of arrival and the server's timings "
                                 "differ by over 2 %",
                                 Counted(evaluation.client_disagrees, "trial"))});
  }
  if (evaluation.disturbed > 0) {
    notes.push_back({Level::kWarning, "disturbed",
                     fmt::format("in {} other programs used this CPU during decode: bursts of them "
                                 "can look like a difference between variants",
                                 Counted(evaluation.disturbed, "trial"))});
  }
  if (const std::size_t voided = evaluation.voided.size(); voided > 0) {
    notes.push_back(
        {Level::kNotice, "void_trials",
         fmt::format("{} void; {} for nothing",
                     voided == 1 ? "1 trial was" : fmt::format("{} trials were", voided),
                     voided == 1 ? "its pair counts" : "their pairs count")});
  }
  if (evaluation.unpaired > 0 && evaluation.voided.empty() && context.finished) {
    notes.push_back(
        {Level::kWarning, "unpaired_trials",
         fmt::format("{} left out: {} no partner of another variant",
                     evaluation.unpaired == 1 ? "1 trial was"
                                              : fmt::format("{} trials were", evaluation.unpaired),
                     evaluation.unpaired == 1 ? "it has" : "they have")});
  }
  if (!evaluation.candidates.empty()) {  // all have the same margins
    AddFloorNote(evaluation.candidates.front().decode, notes);
    if (!spec.workload.cache_prompt) AddFloorNote(evaluation.candidates.front().prefill, notes);
  }
  for (const std::string& note : context.notes) {
    notes.push_back({Level::kNotice, "machine", Printable(note)});
  }
}

std::string Title(const Spec& spec, const AbContext& context) {
  const auto& workload = spec.workload;
  const char* what = spec.design.same_variant ? "A/A" : "A/B";
  if (!context.counts_known) return fmt::format("{} of {}", what, Printable(context.where));
  const auto name = workload.name();
  return fmt::format("{}{}: {} tokens after a prompt of {}{}", what,
                     name == "custom" ? "" : fmt::format(", {}", name),
                     base::Grouped(Count(workload.output)), base::Grouped(Count(workload.prompt)),
                     workload.cache_prompt ? " from the cache" : "");
}

// What compare takes: the trace is still to be made, the time is known.
std::string TraceLine(const VariantSummary& summary) {
  return fmt::format("{}=TRACE:{}", Printable(summary.label),
                     base::Exact(std::round(summary.decode->millis() * 1e4) / 1e4).value_or(""));
}

void AddAdvice(const Evaluation& evaluation, const AbContext& context,
               std::vector<std::string>& advice) {
  if (!evaluation.baseline.decode) return;
  std::string line = "with traces of your own: culprit compare " + TraceLine(evaluation.baseline);
  bool changed = false;
  for (const CandidateResult& candidate : evaluation.candidates) {
    if (!candidate.summary.decode || candidate.same_objects) continue;
    changed |= candidate.decode.verdict == Verdict::kRegression ||
               candidate.decode.verdict == Verdict::kImprovement;
    line += " " + TraceLine(candidate.summary);
  }
  if (!changed) return;
  if (context.is_run) {
    const std::string run = Printable(experiment::AsWord(context.where));
    advice.push_back(fmt::format(
        "which kernels did it: culprit trace --resume {} takes a trace of each, culprit compare {} "
        "compares them",
        run, run));
  }
  advice.push_back(line);
}

// What ended a run early, or kept it from saying anything at all.
void AddEnd(const Evaluation& evaluation, std::vector<std::string>& headline) {
  if (evaluation.ended_by_void) {
    const auto& last = evaluation.voided.back();
    headline.push_back(
        fmt::format("{}: trial {} ({}) is void, because {}.",
                    evaluation.compared() ? "The experiment ended early" : "Nothing was compared",
                    last.trial, Printable(last.variant), Printable(last.objections.front().text)));
  } else if (!evaluation.compared()) {
    headline.push_back("Nothing was compared: no pair is complete.");
  }
}

}  // namespace

Report AbReport(const Spec& spec, const Evaluation& evaluation, const AbContext& context) {
  Report report{.kind = "ab", .title = Title(spec, context)};
  const std::string baseline = Printable(evaluation.baseline.label);
  for (const CandidateResult& candidate : evaluation.candidates) {
    const std::string label = Printable(candidate.summary.label);
    const auto answer = candidate.same_objects || spec.design.same_variant ? AaAnswer : Answer;
    if (candidate.decode.comparison) {
      report.headline.push_back(answer(label, baseline, candidate.decode));
    }
    if (candidate.prefill.comparison && !spec.workload.cache_prompt) {
      report.headline.push_back(answer(label, baseline, candidate.prefill));
    }
  }
  AddEnd(evaluation, report.headline);
  report.tables = AbTables(spec, evaluation);
  AddNotes(spec, evaluation, context, report.notes);
  SortNotes(report.notes);
  AddAdvice(evaluation, context, report.advice);
  if (!context.log.empty()) report.advice.push_back("the server's log: " + Printable(context.log));
  return report;
}

}  // namespace culprit::report
