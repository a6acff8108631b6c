#include "report/attribution_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/number_format.h"
#include "base/printable.h"

namespace culprit::report {
namespace {

using analysis::Attribution;
using analysis::DeltaRow;
using analysis::RowKind;
using base::PerToken;

std::string Label(const std::string& label) { return base::Shortened(base::Printable(label), 14); }

Cell Text(std::string text) { return {text, text}; }
Cell Absent() { return {"", std::monostate()}; }
Cell Cost(PerToken cost, const CostUnit& unit) { return {unit.text(cost), unit.number(cost)}; }
Cell Change(PerToken cost, const CostUnit& unit) {
  return {unit.signed_text(cost), unit.number(cost)};
}

// FromTo shows two numbers that are often the same: "145", "48 → 72", "– → 24".
std::string FromTo(const std::string& a, const std::string& b) {
  if (a == b) return a;
  return (a.empty() ? "–" : a) + " → " + (b.empty() ? "–" : b);
}

// Steps are unknown in a prefill; then all launches are counted.
bool HasSteps(const Attribution& attribution) {
  return attribution.per_step_a && attribution.per_step_b;
}

std::string LaunchesText(const DeltaRow& row, bool per_step) {
  const auto text = [&](const analysis::Costs& costs) {
    if (costs.launches == 0) return std::string();
    return per_step && costs.launches_per_step ? base::Plain(*costs.launches_per_step)
                                               : base::Grouped(costs.launches);
  };
  return FromTo(text(row.a), text(row.b));
}

std::string PerLaunchText(const DeltaRow& row) {
  const auto text = [](const analysis::Costs& costs) {
    return costs.per_launch ? base::Micros(*costs.per_launch) : "";
  };
  return FromTo(text(row.a), text(row.b));
}

// Mark tells people in a word what the row is worth: "◄ only q4".
std::string Mark(const DeltaRow& row, const Attribution& attribution) {
  std::string mark = row.stands_out ? "◄" : "";
  const auto only = [&](const std::string& label) {
    mark += (mark.empty() ? "only " : " only ") + Label(label);
  };
  if (row.only_in_a()) only(attribution.label_a);
  if (row.only_in_b()) only(attribution.label_b);
  return mark;
}

std::string RowName(const DeltaRow& row) {
  std::string name = base::Shortened(base::Printable(row.name), 60);
  if (!row.role.empty()) name += " · " + base::Printable(row.role);
  return name;
}

std::vector<Column> TracedColumns(const Attribution& attribution, const CostUnit& unit) {
  using enum Column::Kind;
  using enum Audience;
  const auto machine = [](std::string key, Column::Kind kind = kNumber) {
    return Column{std::move(key), "", kind, kMachines};
  };
  return {
      {"name", std::string(Name(attribution.by)), kText},
      {unit.key("a"), Label(attribution.label_a)},
      {unit.key("b"), Label(attribution.label_b)},
      {unit.key("delta"), "Δ"},
      {"share_of_delta", "share"},
      {unit.key("interval_half_width"), "±95 %"},
      {"", "", kText, kPeople},  // the mark of what stands out
      {"", HasSteps(attribution) ? "launches/step" : "launches", kNumber, kPeople},
      {"", "µs/launch", kNumber, kPeople},
      {unit.key("more_launches"), "Δ more launches"},
      {unit.key("slower_launches"), "Δ slower launches"},
      machine("stands_out"),
      machine("full_name", kText),
      machine(unit.key("interval_low")),
      machine(unit.key("interval_high")),
      machine("p_holm"),
      machine("a_launches"),
      machine("b_launches"),
      machine("a_launches_per_step"),
      machine("b_launches_per_step"),
      machine("a_us_per_launch"),
      machine("b_us_per_launch"),
      machine(unit.key("a_summed")),
      machine(unit.key("b_summed")),
  };
}

Cell MaybeMicros(const std::optional<base::NanosF>& time) {
  if (!time) return Absent();
  return {base::Micros(*time), time->count() / 1e3};
}

Row TracedRow(const DeltaRow& row, const Attribution& attribution, const CostUnit& unit) {
  Row line;
  line.depth = row.kind == RowKind::kKernel ? 1 : 0;
  line.emphasis =
      line.depth == 1 ? Emphasis::kFaint : (row.stands_out ? Emphasis::kStrong : Emphasis::kNone);
  auto& cells = line.cells;
  cells.push_back(Text(RowName(row)));
  cells.push_back(Cost(row.a.per_token, unit));
  cells.push_back(Cost(row.b.per_token, unit));
  cells.push_back(Change(row.delta(), unit));
  cells.push_back(row.share ? Cell{base::SignedPercent(*row.share), row.share->value()} : Absent());
  if (row.interval) {
    const PerToken half((row.interval->high - row.interval->low).value() / 2);
    cells.push_back(Cost(half, unit));
  } else {
    cells.push_back(Absent());
  }
  cells.push_back({Mark(row, attribution), std::monostate()});
  cells.push_back({LaunchesText(row, HasSteps(attribution)), std::monostate()});
  cells.push_back({PerLaunchText(row), std::monostate()});
  cells.push_back(row.split ? Change(row.split->more_launches, unit) : Absent());
  cells.push_back(row.split ? Change(row.split->slower_launches, unit) : Absent());
  cells.push_back({"", row.p ? Value(row.stands_out) : Value()});
  cells.push_back(row.kind == RowKind::kKernel ? Text(base::Printable(row.full_name)) : Absent());
  cells.push_back(row.interval ? Change(row.interval->low, unit) : Absent());
  cells.push_back(row.interval ? Change(row.interval->high, unit) : Absent());
  cells.push_back(row.p ? Cell{"", *row.p} : Absent());
  const bool idle = row.kind == RowKind::kIdle;
  cells.push_back(idle ? Absent() : Cell{"", row.a.launches});
  cells.push_back(idle ? Absent() : Cell{"", row.b.launches});
  for (const auto& per_step : {row.a.launches_per_step, row.b.launches_per_step}) {
    cells.push_back(idle || !per_step ? Absent() : Cell{"", *per_step});
  }
  cells.push_back(MaybeMicros(row.a.per_launch));
  cells.push_back(MaybeMicros(row.b.per_launch));
  cells.push_back(idle ? Absent() : Cost(row.a.summed, unit));
  cells.push_back(idle ? Absent() : Cost(row.b.summed, unit));
  return line;
}

// SumRow is a line that has costs and nothing else.
Row SumRow(const std::string& name, PerToken a, PerToken b, const CostUnit& unit,
           std::size_t columns, Emphasis emphasis) {
  Row line;
  line.emphasis = emphasis;
  line.cells = {Text(name), Cost(a, unit), Cost(b, unit), Change(b - a, unit)};
  line.cells.resize(columns, Absent());
  return line;
}

// Others names what a category's list leaves out, so that the kernels add up too.
Row OtherKernels(const DeltaRow& category, std::size_t shown, const CostUnit& unit,
                 std::size_t columns) {
  PerToken a(base::NanosF(0));
  PerToken b(base::NanosF(0));
  for (std::size_t i = shown; i < category.kernels.size(); ++i) {
    a = a + category.kernels[i].a.per_token;
    b = b + category.kernels[i].b.per_token;
  }
  const std::size_t left = category.kernels.size() - shown;
  Row line = SumRow(fmt::format("{} other kernel{}", left, left == 1 ? "" : "s"), a, b, unit,
                    columns, Emphasis::kFaint);
  line.depth = 1;
  return line;
}

// WorthOpening: the kernels of a category that did not change say nothing. Where no noise is known,
// 5 % of the whole change is a change.
bool WorthOpening(const DeltaRow& category) {
  const bool large = category.share && std::abs(category.share->value()) >= 0.05;
  return category.stands_out || (!category.p && large) ||
         std::any_of(category.kernels.begin(), category.kernels.end(),
                     [](const DeltaRow& kernel) { return kernel.stands_out; });
}

// Each warning of the statistics once, with the number of categories that it is about.
void AddStatisticalWarnings(const Attribution& attribution, Table& table) {
  std::map<stats::Warning, std::size_t> rows;
  for (const DeltaRow& row : attribution.rows) {
    for (const stats::Warning warning : row.warnings) ++rows[warning];
  }
  for (const auto& [warning, count] : rows) {
    table.notes.push_back(fmt::format("{} of {} rows: {}.", count, attribution.rows.size(),
                                      stats::Describe(warning)));
  }
}

}  // namespace

Table TracedTable(const Attribution& attribution, const CostUnit& unit, std::size_t kernels) {
  Table table{"traced",
              fmt::format("(a) Traced {}", unit.name()),
              TracedColumns(attribution, unit),
              {},
              {}};
  const std::size_t columns = table.columns.size();
  for (const DeltaRow& row : attribution.rows) {
    table.rows.push_back(TracedRow(row, attribution, unit));
    // A list that would leave out a single kernel shows it instead.
    const std::size_t shown = row.kernels.size() <= kernels + 1 ? row.kernels.size() : kernels;
    const bool folded = kernels == 0 || !WorthOpening(row);
    for (std::size_t i = 0; i < row.kernels.size(); ++i) {
      table.rows.push_back(TracedRow(row.kernels[i], attribution, unit));
      if (folded || i >= shown) table.rows.back().audience = Audience::kMachines;
    }
    if (!folded && shown < row.kernels.size()) {
      table.rows.push_back(OtherKernels(row, shown, unit, columns));
      table.rows.back().audience = Audience::kPeople;
    }
  }
  table.rows.push_back(SumRow("traced total", attribution.traced_a, attribution.traced_b, unit,
                              columns, Emphasis::kTotal));
  if (attribution.traced_delta().value().count() != 0) {
    table.rows.back().cells[4] = {base::SignedPercent(base::Fraction(1)), 1.0};
  }
  if (const auto& untraced = attribution.untraced) {
    table.rows.push_back(SumRow("[unexplained: untraced − traced]", untraced->unexplained_a,
                                untraced->unexplained_b, unit, columns, Emphasis::kNone));
    table.rows.push_back(
        SumRow("untraced (median)", untraced->a, untraced->b, unit, columns, Emphasis::kTotal));
  }
  AddStatisticalWarnings(attribution, table);
  const auto noisy = [](const DeltaRow& row) { return row.p.has_value(); };
  if (std::ranges::none_of(attribution.rows, noisy)) return table;
  table.notes.push_back(
      "◄ stands out of the step-to-step noise (block means, Holm-adjusted p < 0.05, at least 0.5 % "
      "of a token). It says nothing about other starts of the server.");
  return table;
}

Table ScaledTable(const Attribution& attribution, const CostUnit& unit) {
  using enum Column::Kind;
  Table table{"scaled_to_untraced",
              fmt::format("(b) Scaled to untraced time, {}; presentation only", unit.name()),
              {{"name", std::string(Name(attribution.by)), kText},
               {unit.key("a_scaled"), Label(attribution.label_a)},
               {unit.key("b_scaled"), Label(attribution.label_b)},
               {unit.key("delta_scaled"), "Δ"},
               {"scaling_artefact", "", kNumber, Audience::kMachines},
               {"", "", kText, Audience::kPeople}},
              {},
              {}};
  bool any = false;
  for (const analysis::ScaledRow& row : attribution.untraced->scaled) {
    any = any || row.artefact;
    Row line;
    line.cells = {Text(base::Printable(row.name)),
                  Cost(row.a, unit),
                  Cost(row.b, unit),
                  Change(row.b - row.a, unit),
                  {"", row.artefact},
                  {row.artefact ? "≠ (a)" : "", std::monostate()}};
    table.rows.push_back(std::move(line));
  }
  table.rows.push_back(SumRow("untraced (median)", attribution.untraced->a, attribution.untraced->b,
                              unit, table.columns.size(), Emphasis::kTotal));
  table.notes.push_back(fmt::format(
      "Each side is stretched by one factor. A {} that your change cannot touch and that "
      "moves here but not in (a) is a scaling artefact: (a) is right.",
      Name(attribution.by)));
  if (any) {
    table.notes.push_back(
        "≠ (a): moves in another direction than in (a), or by more than its interval.");
  }
  return table;
}

}  // namespace culprit::report
