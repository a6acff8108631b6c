#include "report/ab_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/number_format.h"
#include "base/parse_number.h"
#include "base/printable.h"

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
using enum Column::Kind;
using enum Audience;

// Two pairs of noisy runs allow for changes that nobody wants to read the digits of.
constexpr double kWorthWriting = 10;

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

Cell MebiCell(const std::optional<std::string>& mib) {
  if (!mib) return Absent();
  const auto number = base::ParseNumber<double>(*mib);
  if (!number) return Absent();
  return {Printable(*mib), *number};
}

// People need no column that is empty.
void HideEmptyColumns(Table& table) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const bool empty = std::all_of(table.rows.begin(), table.rows.end(), [i](const Row& row) {
      return std::holds_alternative<std::monostate>(row.cells[i].value);
    });
    if (empty) table.columns[i].audience = kMachines;
  }
}

// With a kept prompt, what is left of prefill is one token.
Row VariantRow(const VariantSummary& summary, const CandidateResult* result, const Spec& spec) {
  const bool prefill = !spec.workload.cache_prompt;
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
               MebiCell(summary.kv_cache_mib),
               RateCell(prefill ? summary.prefill : std::nullopt),
               MillisCell(prefill ? summary.prefill : std::nullopt),
               ChangeCell(result == nullptr || !prefill ? nullptr : &result->prefill)};
  return row;
}

Table VariantTable(const Evaluation& evaluation, const Spec& spec) {
  Table table{"variants",
              fmt::format("Medians of each variant; A is {}", Printable(evaluation.baseline.label)),
              {{"variant", "variant", kText},
               {"runs", "runs"},
               {"decode_tokens_per_s", "decode tok/s"},
               {"decode_ms_per_token", "ms/token"},
               {"decode_change", "cost vs A"},
               {"acceptance", "acceptance"},
               {"kv_cache_mib", "KV MiB"},
               {"prefill_tokens_per_s", "prefill tok/s"},
               {"prefill_ms_per_token", "", kNumber, kMachines},
               {"prefill_change", "cost vs A"}},
              {},
              {}};
  table.rows.push_back(VariantRow(evaluation.baseline, nullptr, spec));
  for (const CandidateResult& candidate : evaluation.candidates) {
    table.rows.push_back(VariantRow(candidate.summary, &candidate, spec));
  }
  table.notes.push_back(
      "cost vs A: change in time per token, + is slower: the mean over pairs, which is not the "
      "ratio of the medians. The sentences above tell it in ms, as that share of A's median.");
  HideEmptyColumns(table);
  return table;
}

// A change with its sign, and a size that has none.
Cell SignedCell(double log_ratio) { return {ChangeText(log_ratio), Change(log_ratio).value()}; }
Cell SizeCell(double log_ratio) {
  const Fraction size = Change(log_ratio);
  return {size.value() > kWorthWriting ? "> 1,000 %" : base::Percent(size), size.value()};
}

Cell CountCell(std::size_t count) {
  return {fmt::format("{}", count), static_cast<std::int64_t>(count)};
}

Row VerdictRow(const std::string& candidate, const Judgement& judgement) {
  const std::string metric(Name(judgement.metric)), verdict(Describe(judgement.verdict));
  Cell change = Absent(), low = Absent(), high = Absent(), detectable = Absent();
  if (judgement.comparison) {
    const stats::PairedComparison& comparison = *judgement.comparison;
    change = SignedCell(comparison.log_ratio);
    if (comparison.interval) {
      low = SignedCell(comparison.interval->low);
      high = SignedCell(comparison.interval->high);
    }
    if (const auto size = comparison.Detectable()) detectable = SizeCell(*size);
  }
  Row row;
  row.cells = {{candidate, candidate},
               {metric, metric},
               {verdict, verdict},
               change,
               low,
               high,
               CountCell(judgement.pairs.size()),
               detectable,
               SizeCell(judgement.margin.log()),
               judgement.more_pairs ? CountCell(*judgement.more_pairs) : Absent()};
  if (judgement.metric == Metric::kDecode) row.emphasis = Emphasis::kStrong;
  return row;
}

// What was measured: without any pair both are listed, for they were meant to be. With a kept
// prompt, what is left of prefill is one token.
std::vector<const Judgement*> Measured(const CandidateResult& candidate, const Spec& spec) {
  const bool none = !candidate.decode.comparison && !candidate.prefill.comparison;
  std::vector<const Judgement*> measured;
  if (candidate.decode.comparison || none) measured.push_back(&candidate.decode);
  const bool prefill = candidate.prefill.comparison || none;
  if (prefill && !spec.workload.cache_prompt) measured.push_back(&candidate.prefill);
  return measured;
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
    for (const Judgement* judgement : Measured(candidate, spec)) {
      table.rows.push_back(VerdictRow(label, *judgement));
    }
  }
  table.notes.push_back(
      "from, to: t interval on the mean of ln(B/A) over pairs of cold starts. detectable: the "
      "smallest true change that such a run finds 8 times in 10. Smaller than the margin is no "
      "difference.");
  return table;
}

// Every run as a row, for machines and for whoever wants to judge for himself.
Table PairTable(const Evaluation& evaluation, const Spec& spec) {
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
      if (judgement == &candidate.prefill && spec.workload.cache_prompt) continue;
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
              "Void trials, judged before their times were looked at",
              {{"trial", "trial"},
               {"variant", "variant", kText},
               {"reason", "reason", kText},
               {"text", "", kText, kMachines}},
              {},
              {}};
  for (const auto& trial : evaluation.voided) {
    for (const auto& objection : trial.objections) {
      Row row;
      // Columns are narrow, and this is the answer.
      const std::string text = Printable(objection.text);
      if (std::find(table.notes.begin(), table.notes.end(), text) == table.notes.end()) {
        table.notes.push_back(text);
      }
      row.cells = {{fmt::format("{}", trial.trial), std::int64_t{trial.trial}},
                   {Printable(trial.variant), Printable(trial.variant)},
                   {Printable(objection.id), Printable(objection.id)},
                   {text, text}};
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

}  // namespace

Fraction Change(double log_ratio) { return Fraction(std::expm1(log_ratio)); }

std::string ChangeText(double log_ratio) {
  const Fraction change = Change(log_ratio);
  return change.value() > kWorthWriting ? "> +1,000 %" : base::SignedPercent(change);
}

std::vector<Table> AbTables(const Spec& spec, const Evaluation& evaluation) {
  std::vector<Table> tables;
  if (evaluation.compared()) {
    tables = {VariantTable(evaluation, spec), VerdictTable(evaluation, spec),
              PairTable(evaluation, spec)};
  }
  for (Table table : {DifferenceTable(evaluation), VoidTable(evaluation)}) {
    if (!table.rows.empty()) tables.push_back(std::move(table));
  }
  return tables;
}

}  // namespace culprit::report
