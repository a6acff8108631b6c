#include "report/ab_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/number_format.h"
#include "base/printable.h"
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
using enum Column::Kind;
using enum Audience;

Fraction Change(double log_ratio) { return Fraction(std::expm1(log_ratio)); }

std::string PairCount(std::size_t pairs) {
  return fmt::format("{} pair{}", pairs, pairs == 1 ? "" : "s");
}

// "+39.5 %, 98.2 % interval +36.1 to +42.9 %, 6 pairs"
std::string Evidence(const Judgement& judgement) {
  const auto& comparison = *judgement.comparison;
  std::string text = base::SignedPercent(comparison.change());
  if (comparison.interval) {
    text += fmt::format(", {} interval {} to {}", base::Percent(Fraction(1 - comparison.level)),
                        base::SignedPercent(Change(comparison.interval->low)),
                        base::SignedPercent(Change(comparison.interval->high)));
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
  return fmt::format("Whether {} {} slower or faster than {} is not decided ({}): {}; {}.",
                     candidate, verb, baseline, Evidence(judgement), Describe(judgement.verdict),
                     MorePairs(judgement));
}

Cell Absent() { return {"", std::monostate()}; }

Cell RateCell(const std::optional<PerToken>& cost) {
  if (!cost) return Absent();
  return {base::Rate(cost->value()), 1e9 / cost->value().count()};
}

Cell MillisCell(const std::optional<PerToken>& cost) {
  if (!cost) return Absent();
  return {base::Millis(cost->value()), cost->millis()};
}

Cell ChangeCell(const Judgement* judgement) {
  if (judgement == nullptr || !judgement->comparison) return Absent();
  const Fraction change = judgement->comparison->change();
  return {base::SignedPercent(change), change.value()};
}

Row VariantRow(const VariantSummary& summary, const CandidateResult* result) {
  Row row;
  const std::string label = Printable(summary.label);
  row.cells = {{label, label},
               {fmt::format("{}", summary.runs), static_cast<std::int64_t>(summary.runs)},
               RateCell(summary.decode),
               MillisCell(summary.decode),
               ChangeCell(result == nullptr ? nullptr : &result->decode),
               summary.acceptance
                   ? Cell{base::Percent(*summary.acceptance), summary.acceptance->value()}
                   : Absent(),
               summary.kv_cache_mib
                   ? Cell{Printable(*summary.kv_cache_mib), Printable(*summary.kv_cache_mib)}
                   : Absent(),
               RateCell(summary.prefill),
               MillisCell(summary.prefill),
               ChangeCell(result == nullptr ? nullptr : &result->prefill)};
  return row;
}

Table VariantTable(const Evaluation& evaluation) {
  Table table{"variants",
              "Medians of each variant, cost per token against the baseline",
              {{"variant", "variant", kText},
               {"runs", "runs"},
               {"decode_tokens_per_s", "decode tok/s"},
               {"decode_ms_per_token", "ms/token"},
               {"decode_change", "vs A"},
               {"acceptance", "acceptance"},
               {"kv_cache_mib", "KV MiB"},
               {"prefill_tokens_per_s", "prefill tok/s"},
               {"prefill_ms_per_token", "", kNumber, kMachines},
               {"prefill_change", "vs A"}},
              {},
              {}};
  table.rows.push_back(VariantRow(evaluation.baseline, nullptr));
  for (const CandidateResult& candidate : evaluation.candidates) {
    table.rows.push_back(VariantRow(candidate.summary, &candidate));
  }
  return table;
}

Row VerdictRow(const std::string& candidate, const Judgement& judgement) {
  const auto& comparison = judgement.comparison;
  const auto percent = [](std::optional<double> log_ratio) {
    if (!log_ratio) return Absent();
    return Cell{base::SignedPercent(Change(*log_ratio)), Change(*log_ratio).value()};
  };
  const auto interval = comparison ? comparison->interval : std::nullopt;
  const std::string metric(Name(judgement.metric)), verdict(Describe(judgement.verdict));
  const auto size = [](std::optional<double> log_ratio) {
    if (!log_ratio) return Absent();
    return Cell{base::Percent(Change(*log_ratio)), Change(*log_ratio).value()};
  };
  Row row;
  row.cells = {{candidate, candidate},
               {metric, metric},
               {verdict, verdict},
               percent(comparison ? std::optional(comparison->log_ratio) : std::nullopt),
               percent(interval ? std::optional(interval->low) : std::nullopt),
               percent(interval ? std::optional(interval->high) : std::nullopt),
               {fmt::format("{}", judgement.pairs.size()),
                static_cast<std::int64_t>(judgement.pairs.size())},
               size(comparison ? comparison->Detectable() : std::nullopt),
               size(judgement.margin.log()),
               judgement.more_pairs ? Cell{fmt::format("{}", *judgement.more_pairs),
                                           static_cast<std::int64_t>(*judgement.more_pairs)}
                                    : Absent()};
  if (judgement.metric == Metric::kDecode) row.emphasis = Emphasis::kStrong;
  return row;
}

Table VerdictTable(const Evaluation& evaluation, const Spec& spec) {
  Table table{"verdicts",
              "Verdicts, change in cost per token",
              {{"variant", "variant", kText},
               {"metric", "metric", kText},
               {"verdict", "verdict", kText},
               {"change", "change"},
               {"interval_low", "from"},
               {"interval_high", "to"},
               {"pairs", "pairs"},
               {"detectable_change", "detectable"},
               {"margin", "margin"},
               {"more_pairs", "", kNumber, kMachines}},
              {},
              {}};
  for (const CandidateResult& candidate : evaluation.candidates) {
    const std::string label = Printable(candidate.summary.label);
    table.rows.push_back(VerdictRow(label, candidate.decode));
    if (!spec.workload.cache_prompt) table.rows.push_back(VerdictRow(label, candidate.prefill));
  }
  table.notes.push_back(
      "from, to: t interval on the mean of ln(B/A) over pairs of cold starts. detectable: the "
      "smallest true change that such a run finds 8 times in 10. Smaller than the margin is no "
      "difference.");
  return table;
}

// Every run as a row, for machines and for whoever wants to judge for himself.
Table PairTable(const Evaluation& evaluation) {
  Table table{"pairs",
              "Pairs, ms per token",
              {{"variant", "variant", kText},
               {"metric", "metric", kText},
               {"baseline_ms_per_token", "A"},
               {"candidate_ms_per_token", "B"},
               {"change", "change"},
               {"first", "first", kText}},
              {},
              {}};
  for (const CandidateResult& candidate : evaluation.candidates) {
    for (const Judgement* judgement : {&candidate.decode, &candidate.prefill}) {
      for (const stats::Pair& pair : judgement->pairs) {
        const std::string label = Printable(candidate.summary.label);
        const std::string metric(Name(judgement->metric));
        const std::string first = pair.candidate_first() ? "B" : "A";
        const double ratio = std::log(pair.candidate / pair.baseline);
        Row row;
        row.cells = {{label, label},
                     {metric, metric},
                     {base::Millis(NanosF(pair.baseline * 1e6)), pair.baseline},
                     {base::Millis(NanosF(pair.candidate * 1e6)), pair.candidate},
                     {base::SignedPercent(Change(ratio)), Change(ratio).value()},
                     {first, first}};
        if (judgement->metric == Metric::kPrefill) row.audience = kMachines;
        table.rows.push_back(std::move(row));
      }
    }
  }
  return table;
}

Table DifferenceTable(const Evaluation& evaluation) {
  Table table{"differences",
              "What differs between the servers",
              {{"variant", "variant", kText},
               {"fact", "fact", kText},
               {"baseline", "baseline", kText},
               {"candidate", "candidate", kText},
               {"named", "follows from what you changed", kText}},
              {},
              {}};
  for (const CandidateResult& candidate : evaluation.candidates) {
    for (const auto& difference : candidate.differences) {
      const auto text = [](const std::string& value) {
        return value.empty() ? Absent() : Cell{Printable(value), Printable(value)};
      };
      Row row;
      row.cells = {text(candidate.summary.label),
                   text(difference.fact),
                   text(difference.baseline),
                   text(difference.candidate),
                   {difference.named ? "yes" : "NO", difference.named}};
      if (!difference.named) row.emphasis = Emphasis::kStrong;
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

Table VoidTable(const Evaluation& evaluation) {
  Table table{"void",
              "Void trials, told from their contract before their times were looked at",
              {{"trial", "trial"},
               {"variant", "variant", kText},
               {"reason", "reason", kText},
               {"text", "", kText}},
              {},
              {}};
  for (const auto& trial : evaluation.voided) {
    for (const auto& objection : trial.objections) {
      Row row;
      row.cells = {{fmt::format("{}", trial.trial), std::int64_t{trial.trial}},
                   {Printable(trial.variant), Printable(trial.variant)},
                   {Printable(objection.id), Printable(objection.id)},
                   {Printable(objection.text), Printable(objection.text)}};
      table.rows.push_back(std::move(row));
    }
  }
  return table;
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
  report.tables = {VariantTable(evaluation), VerdictTable(evaluation, spec), PairTable(evaluation)};
  for (Table table : {DifferenceTable(evaluation), VoidTable(evaluation)}) {
    if (!table.rows.empty()) report.tables.push_back(std::move(table));
  }
  AddNotes(spec, evaluation, context, report.notes);
  SortNotes(report.notes);
  AddAdvice(evaluation, report.advice);
  return report;
}

}  // namespace culprit::report
