#include "report/gate_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/number_format.h"
#include "base/printable.h"
#include "report/append.h"

namespace culprit::report {
namespace {

using base::Printable;
using gate::GateResult;
using gate::GateRun;
using gate::Metric;
using gate::Position;
using gate::Summary;
using gate::Verdict;
using enum Column::Kind;
using enum Audience;

Cell Absent() { return {"", std::monostate()}; }
Cell Text(const std::string& text) { return {text, text}; }
Cell Count(std::size_t count) {
  return {base::Grouped(static_cast<std::int64_t>(count)), static_cast<std::int64_t>(count)};
}
// A position is told as people count: token 1 is the first.
Cell TokenAt(std::optional<std::size_t> position) {
  return position ? Count(*position + 1) : Absent();
}
// What is infinite is absent for machines: JSON has no word for it, and the omitted probability,
// which is why, stands beside it.
Cell Of(Metric metric, double value) {
  if (!std::isfinite(value)) return {gate::ValueText(metric, value), std::monostate()};
  return {gate::ValueText(metric, value), value};
}
Cell Of(Metric metric, const std::optional<double>& value) {
  return value ? Of(metric, *value) : Absent();
}

// "kl", as machines find it.
std::string KeyOf(Metric metric) {
  switch (metric) {
    case Metric::kKl:
      return "kl_nats";
    case Metric::kReverseKl:
      return "reverse_kl_nats";
    case Metric::kJs:
      return "js_nats";
    case Metric::kTotalVariation:
      return "total_variation_share";
    case Metric::kOmitted:
      return "omitted_share";
    case Metric::kAdded:
      return "added_share";
    case Metric::kUnseen:
      return "unseen_share";
    case Metric::kCosine:
      return "cosine";
    case Metric::kFlipGap:
      return "flip_gap_nats";
    case Metric::kRecall:
      return "top_20_recall_share";
    case Metric::kRank:
      return "rank";
    case Metric::kMaxDelta:
      return "max_delta_nats";
  }
  return "";
}

bool InNats(Metric metric) { return KeyOf(metric).ends_with("_nats"); }

// The same without its unit, which stands beside the metric's name.
Cell Bare(Metric metric, double value) {
  Cell cell = Of(metric, value);
  if (InNats(metric)) cell.text = base::Significant(value);
  return cell;
}

// The columns that say which probe a row is about: people need them where there are several.
std::vector<Column> ProbeColumns(const GateRun& run) {
  const bool prompts = std::any_of(run.probes.begin(), run.probes.end(), [&](const auto& probe) {
    return probe.prompt != run.probes.front().prompt;
  });
  const bool ubatches = std::any_of(run.probes.begin(), run.probes.end(),
                                    [](const auto& probe) { return probe.ubatch.has_value(); });
  return {{"prompt_tokens", "prompt", kNumber, prompts ? kEveryone : kMachines},
          {"ubatch", "ubatch", kNumber, ubatches ? kEveryone : kMachines}};
}

std::vector<Cell> ProbeCells(const gate::Probe& probe) {
  Cell ubatch = Absent();
  if (probe.ubatch) ubatch = Count(static_cast<std::size_t>(*probe.ubatch));
  return {Count(probe.prompt), std::move(ubatch)};
}

// Each calls take(probe, candidate, result) for each of a gate's answers.
template <typename Take>
void Each(const GateRun& run, const std::vector<Verdict>& verdicts, const Take& take) {
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    for (std::size_t k = 0; k < run.probes.size(); ++k) {
      take(run.probes[k], run.probes[k].candidates[i], verdicts[i].results[k]);
    }
  }
}

Table AnswersTable(const GateRun& run, const std::vector<Verdict>& verdicts) {
  Table table{
      "answers", fmt::format("Each candidate beside {}", Printable(run.baseline)), {}, {}, {}};
  table.columns = {{"candidate", "candidate", kText}};
  Append(ProbeColumns(run), table.columns);
  Append({{"answer", "answer", kText},
          {"passed", "", kText, kMachines},
          {"level", "", kText, kMachines},
          {"from_token", "from token"},
          {"positions", "", kNumber, kMachines},
          {"identical_positions", "identical"},
          {"other_likeliest_positions", "other likeliest"},
          {"baseline_perplexity", "perplexity A"},
          {"candidate_perplexity", "perplexity"},
          {"fork_token", "fork at token"},
          {"fork_gap_nats", "", kNumber, kMachines}},
         table.columns);
  const auto small = [](double value) { return Cell{base::Significant(value), value}; };
  Each(run, verdicts, [&](const auto& probe, const auto& candidate, const GateResult& result) {
    const auto& perplexity = result.summary.perplexity;
    const auto& fork = result.fork;
    Row row{{Text(Printable(candidate.label))}};
    Append(ProbeCells(probe), row.cells);
    Append({Text(std::string(Name(result.outcome))),
            {"", result.passed()},
            Text(result.level.name),
            TokenAt(result.at),
            Count(result.summary.positions),
            Count(result.summary.identical),
            Count(result.summary.disagreements),
            perplexity ? small(perplexity->baseline) : Absent(),
            perplexity ? small(perplexity->candidate) : Absent(),
            fork ? TokenAt(fork->at) : Absent(),
            fork && fork->gap ? small(*fork->gap) : Absent()},
           row.cells);
    table.rows.push_back(std::move(row));
  });
  table.notes = {fmt::format(
      "identical: positions whose every number is the same, of {}. other likeliest: positions at "
      "which the likeliest token is another. perplexity: of {}'s text. fork: where the two choose "
      "other tokens when each runs freely.",
      base::Grouped(static_cast<std::int64_t>(run.probes.front().positions)),
      Printable(run.baseline))};
  return table;
}

void AddSpreads(const gate::Probe& probe, const std::string& label, const Summary& summary,
                Table& table) {
  bool first = true;
  for (const Metric metric : gate::kMetrics) {
    const auto& spread = summary.of(metric);
    if (!spread) continue;
    const std::string name = fmt::format("{}{}", Name(metric), InNats(metric) ? ", nats" : "");
    const bool perfect = spread->worst == (LessIsWorse(metric) || metric == Metric::kRank ? 1 : 0);
    Row row{{{first ? label : "", label}}};
    Append(ProbeCells(probe), row.cells);
    Append({{name, KeyOf(metric)},
            Bare(metric, spread->median),
            Bare(metric, spread->p95),
            Bare(metric, spread->p99),
            Bare(metric, spread->worst),
            TokenAt(spread->at)},
           row.cells);
    table.rows.push_back(std::move(row));
    // What does not differ anywhere tells people nothing.
    if (perfect) table.rows.back().audience = kMachines;
    first &= perfect;
  }
}

// The largest total variation of each stretch of the text, as a line of blocks.
std::string Plot(const std::vector<Position>& positions, double most) {
  constexpr std::size_t kWidest = 60;
  constexpr std::array kBlocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const std::size_t width = std::min(kWidest, positions.size());
  std::string line;
  for (std::size_t i = 0; i < width; ++i) {
    const std::size_t begin = i * positions.size() / width;
    const std::size_t end = (i + 1) * positions.size() / width;
    double worst = 0;
    for (std::size_t k = begin; k < end; ++k) {
      worst = std::max(worst, positions[k].total_variation);
    }
    const double height = most > 0 ? worst / most * static_cast<double>(kBlocks.size() - 1) : 0;
    line += kBlocks[static_cast<std::size_t>(std::lround(height))];
  }
  return line;
}

Table SpreadTable(const GateRun& run, const std::vector<Verdict>& verdicts) {
  Table table{"differences", "How far apart, over all positions", {}, {}, {}};
  table.columns = {{"candidate", "candidate", kText}};
  Append(ProbeColumns(run), table.columns);
  Append({{"metric", "", kText},
          {"median", "median"},
          {"p95", "95 %"},
          {"p99", "99 %"},
          {"worst", "worst"},
          {"worst_token", "at token"}},
         table.columns);
  table.notes = {"A metric that is perfect at every position has no row."};
  Each(run, verdicts, [&](const auto& probe, const auto& candidate, const GateResult& result) {
    const std::string label = Printable(candidate.label);
    AddSpreads(probe, label, result.summary, table);
    const double most = result.summary.Worst(Metric::kTotalVariation);
    if (most <= 0) return;
    table.notes.push_back(fmt::format(
        "total variation of {} over the text, █ is {}: {}", NameOf(run, probe, label),
        gate::ValueText(Metric::kTotalVariation, most), Plot(candidate.positions, most)));
  });
  return table;
}

Cell Logprob(const std::optional<double>& logprob) {
  return logprob ? Cell{"", *logprob} : Absent();
}

Row PositionRow(const gate::Probe& probe, const std::string& label, const Position& position,
                std::size_t at) {
  Row row{{Text(label)}};
  Append(ProbeCells(probe), row.cells);
  Append({TokenAt(at),
          {position.identical ? "yes" : "", position.identical},
          {position.top_agrees ? "" : "another", position.top_agrees}},
         row.cells);
  for (const Metric metric : gate::kMetrics) {
    row.cells.push_back(Of(metric, ValueOf(position, metric)));
  }
  row.cells.push_back(Logprob(position.baseline_logprob));
  row.cells.push_back(Logprob(position.candidate_logprob));
  row.audience = kMachines;
  return row;
}

// People see those that are furthest apart.
void ShowWorst(const std::vector<Position>& positions, std::vector<Row>::iterator rows) {
  constexpr std::size_t kShown = 5;
  std::vector<std::size_t> order(positions.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&positions](std::size_t a, std::size_t b) {
    return positions[a].total_variation > positions[b].total_variation;
  });
  for (std::size_t i = 0; i < std::min(kShown, order.size()); ++i) {
    if (positions[order[i]].total_variation <= 0) return;
    rows[static_cast<std::ptrdiff_t>(order[i])].audience = kEveryone;
  }
}

Table PositionTable(const GateRun& run, const std::vector<Verdict>& verdicts) {
  Table table{"positions", "The positions furthest apart", {}, {}, {}};
  table.columns = {{"candidate", "candidate", kText}};
  Append(ProbeColumns(run), table.columns);
  Append(
      {{"token", "token"}, {"identical", "", kText, kMachines}, {"top_agrees", "likeliest", kText}},
      table.columns);
  for (const Metric metric : gate::kMetrics) {
    const bool shown = metric == Metric::kKl || metric == Metric::kTotalVariation ||
                       metric == Metric::kOmitted || metric == Metric::kCosine ||
                       metric == Metric::kRank;
    table.columns.push_back(
        {KeyOf(metric), std::string(Name(metric)), kNumber, shown ? kEveryone : kMachines});
  }
  table.columns.push_back({"baseline_logprob_nats", "", kNumber, kMachines});
  table.columns.push_back({"candidate_logprob_nats", "", kNumber, kMachines});
  table.notes = {
      "total variation: the share of probability that moved. omitted: what the baseline gives to "
      "tokens that the candidate rules out. cosine: of the centred logits. rank: of the text's "
      "token, to the candidate."};
  Each(run, verdicts, [&](const auto& probe, const auto& candidate, const GateResult&) {
    const auto begin = static_cast<std::ptrdiff_t>(table.rows.size());
    for (std::size_t i = 0; i < candidate.positions.size(); ++i) {
      table.rows.push_back(
          PositionRow(probe, Printable(candidate.label), candidate.positions[i], i));
    }
    ShowWorst(candidate.positions, table.rows.begin() + begin);
  });
  return table;
}

bool AnyDiffers(const std::vector<Verdict>& verdicts) {
  return std::any_of(verdicts.begin(), verdicts.end(), [](const Verdict& verdict) {
    return std::any_of(verdict.results.begin(), verdict.results.end(), [](const auto& result) {
      return result.summary.positions > result.summary.identical;
    });
  });
}

}  // namespace

std::string NameOf(const GateRun& run, const gate::Probe& probe, const std::string& label) {
  if (run.probes.size() == 1) return label;
  return fmt::format("{} behind {} tokens{}", label,
                     base::Grouped(static_cast<std::int64_t>(probe.prompt)),
                     probe.ubatch ? fmt::format(" in ubatches of {}", *probe.ubatch) : "");
}

std::vector<Table> GateTables(const GateRun& run, const std::vector<Verdict>& verdicts) {
  std::vector<Table> tables = {AnswersTable(run, verdicts)};
  if (!AnyDiffers(verdicts)) return tables;
  tables.push_back(SpreadTable(run, verdicts));
  tables.push_back(PositionTable(run, verdicts));
  return tables;
}

}  // namespace culprit::report
