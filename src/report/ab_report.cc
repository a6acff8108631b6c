#include "report/ab_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/number_format.h"
#include "base/printable.h"
#include "report/ab_tables.h"
#include "report/analysis_notes.h"

namespace culprit::report {
namespace {

using base::Fraction;
using base::NanosF;
using base::PerToken;
using base::Printable;
using experiment::CandidateResult;
using experiment::Evaluation;
using experiment::Judgement;
using experiment::Metric;
using experiment::Spec;
using experiment::VariantSummary;
using stats::Verdict;

Fraction Change(double log_ratio) { return Fraction(std::expm1(log_ratio)); }

std::string PairCount(std::size_t pairs) {
  return fmt::format("{} pair{}", pairs, pairs == 1 ? "" : "s");
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
  return text + ", " + PairCount(comparison.pairs);
}

std::string MorePairs(const Judgement& judgement) {
  if (judgement.more_pairs) {
    return fmt::format("about {} more would tell", PairCount(*judgement.more_pairs));
  }
  return "no reasonable number of pairs would tell";
}

// Ms is the difference in a median cost: "1.454 ms".
std::string Ms(double ms) { return base::Millis(NanosF(std::abs(ms) * 1e6)) + " ms"; }

// Answer is the sentence about one metric: "q4 decodes 1.454 ms per token slower than f16 (…):
// regression."
std::string Answer(const std::string& candidate, const std::string& baseline,
                   const Judgement& judgement) {
  const bool decode = judgement.metric == Metric::kDecode;
  const std::string verb = decode ? "decodes" : "reads its prompt";
  if (!judgement.comparison) {
    return fmt::format("{}: no complete pair says how {} compares with {}.", Name(judgement.metric),
                       candidate, baseline);
  }
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
  if (clear && comparison.pairs < 4) {
    return fmt::format(
        "{} {} {} per token {} than {} ({}), but {} prove nothing while this machine's noise is "
        "not known: {}; {}.",
        candidate, verb, Ms(ms), ms > 0 ? "slower" : "faster", baseline, Evidence(judgement),
        PairCount(comparison.pairs), Describe(judgement.verdict), MorePairs(judgement));
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
    case stats::Warning::kUnstable:
      return "unstable";
    default:
      return "weak_numbers";
  }
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
  }
  if (candidate.same_objects && !spec.design.same_variant) {
    notes.push_back({Level::kWarning, "same_identity",
                     fmt::format("{} is the same server as the baseline: same files, arguments and "
                                 "environment. This is an A/A.",
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
  if (spec.workload.screening() && candidate.decode.verdict == Verdict::kImprovement) {
    notes.push_back({Level::kWarning, "not_yet_proven",
                     fmt::format("{}: not yet proven. A screening of {} tokens can dismiss a "
                                 "variant, not prove one; measure with --workload sustained",
                                 label, Count(spec.workload.output))});
  }
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
  if (!context.finished) {
    notes.push_back(
        {Level::kWarning, "not_finished",
         "the experiment did not come to its end; culprit ab --resume goes on with it"});
  }
  for (const CandidateResult& candidate : evaluation.candidates) {
    AddCandidateNotes(spec, candidate, notes);
    AddClockNote(evaluation.baseline, candidate.summary, notes);
  }
  if (evaluation.client_disagrees > 0) {
    notes.push_back({Level::kWarning, "client_disagrees",
                     fmt::format("in {} trials the client's times of arrival and the server's "
                                 "timings differ by over 2 %",
                                 evaluation.client_disagrees)});
  }
  if (!evaluation.voided.empty()) {
    notes.push_back({Level::kNotice, "void_trials",
                     fmt::format("{} trials were void; their pairs count for nothing",
                                 evaluation.voided.size())});
  }
  for (const std::string& note : context.notes) {
    notes.push_back({Level::kNotice, "machine", Printable(note)});
  }
}

std::string Title(const Spec& spec, const AbContext& context) {
  const auto& workload = spec.workload;
  if (!context.counts_known) return fmt::format("A/B of {}", Printable(context.where));
  return fmt::format("A/B, {}: {} tokens after a prompt of {}{}", workload.name(),
                     base::Grouped(Count(workload.output)), base::Grouped(Count(workload.prompt)),
                     workload.cache_prompt ? " from the cache" : "");
}

// What compare takes: the trace is still to be made, the time is known.
std::string TraceLine(const VariantSummary& summary) {
  return fmt::format("{}=TRACE:{}", Printable(summary.label),
                     base::Exact(std::round(summary.decode->millis() * 1e4) / 1e4).value_or(""));
}

void AddAdvice(const Evaluation& evaluation, std::vector<std::string>& advice) {
  if (!evaluation.baseline.decode) return;
  std::string line = "which kernels did it: culprit compare " + TraceLine(evaluation.baseline);
  bool changed = false;
  for (const CandidateResult& candidate : evaluation.candidates) {
    if (!candidate.summary.decode) continue;
    changed |= candidate.decode.verdict == Verdict::kRegression ||
               candidate.decode.verdict == Verdict::kImprovement;
    line += " " + TraceLine(candidate.summary);
  }
  if (changed) advice.push_back(line);
}

}  // namespace

Report AbReport(const Spec& spec, const Evaluation& evaluation, const AbContext& context) {
  Report report{.kind = "ab", .title = Title(spec, context)};
  const std::string baseline = Printable(evaluation.baseline.label);
  for (const CandidateResult& candidate : evaluation.candidates) {
    const std::string label =
        spec.design.same_variant ? baseline + " (again)" : Printable(candidate.summary.label);
    report.headline.push_back(Answer(label, baseline, candidate.decode));
    const bool measured = candidate.prefill.comparison && !spec.workload.cache_prompt;
    if (measured) report.headline.push_back(Answer(label, baseline, candidate.prefill));
  }
  report.tables = AbTables(spec, evaluation);
  AddNotes(spec, evaluation, context, report.notes);
  SortNotes(report.notes);
  AddAdvice(evaluation, report.advice);
  return report;
}

}  // namespace culprit::report
