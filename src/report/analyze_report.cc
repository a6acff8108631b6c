#include "report/analyze_report.h"

#include <fmt/format.h>

#include "base/number_format.h"
#include "base/printable.h"
#include "report/analysis_notes.h"
#include "report/cost_unit.h"

namespace culprit::report {
namespace {

using analysis::Analysis;
using analysis::KernelCost;
using base::Fraction;
using base::Nanos;
using base::NanosF;

std::string KernelName(const KernelCost& kernel) {
  std::string name = base::Shortened(base::Printable(kernel.short_name), 60);
  if (!kernel.role.empty()) name += " · " + base::Printable(kernel.role);
  return name;
}

// Rows lays sums out with the columns of one analysis.
class Rows {
 public:
  Rows(const Analysis& analysis, const CostUnit& unit) : analysis_(analysis), unit_(unit) {}

  [[nodiscard]] std::vector<Column> columns() const {
    using enum Column::Kind;
    using enum Audience;
    const bool steps = analysis_.rollup.steps > 0;  // none in a prefill: count all launches
    return {{"name", std::string(Name(analysis_.by)), kText},
            {unit_.key("exclusive"), unit_.name()},
            {"share_of_window", "share"},
            {"launches_per_step", "launches/step", kNumber, steps ? kEveryone : kMachines},
            {"us_per_launch", "µs/launch"},
            {unit_.key("summed"), "summed"},
            {"launches", "launches", kNumber, steps ? kMachines : kEveryone},
            {"full_name", "", kText, kMachines}};
  }

  [[nodiscard]] Row Of(const analysis::Category& category) const {
    return Make(base::Printable(category.name), category.cost);
  }
  [[nodiscard]] Row Of(const KernelCost& kernel) const {
    Row row = Make(KernelName(kernel), kernel);
    const std::string full_name = base::Printable(kernel.name);
    row.depth = 1;
    row.emphasis = Emphasis::kFaint;
    row.cells.back() = {full_name, full_name};
    return row;
  }

  [[nodiscard]] Row Plain(const std::string& name, Nanos time, Emphasis emphasis) const {
    Row row;
    row.emphasis = emphasis;
    row.cells = {{name, name}, Cost(time), Share(time)};
    row.cells.resize(columns().size());
    return row;
  }

 private:
  [[nodiscard]] Row Make(const std::string& name, const analysis::Cost& cost) const {
    Row row;
    row.cells = {{name, name}, Cost(cost.exclusive), Share(cost.exclusive)};
    const std::int64_t steps = analysis_.rollup.steps;
    const auto launches = static_cast<double>(cost.launches);
    row.cells.push_back(steps > 0 ? Number(launches / static_cast<double>(steps)) : Cell{});
    row.cells.push_back(cost.launches > 0 ? Micros(NanosF(cost.exclusive) / launches) : Cell{});
    row.cells.push_back(Cost(cost.summed));
    row.cells.push_back({base::Grouped(cost.launches), cost.launches});
    row.cells.emplace_back();
    return row;
  }
  [[nodiscard]] Cell Cost(Nanos time) const {
    const auto cost = analysis_.per_token(time);
    return {unit_.text(cost), unit_.number(cost)};
  }
  [[nodiscard]] Cell Share(Nanos time) const {
    const Fraction share(static_cast<double>(time.count()) /
                         static_cast<double>(analysis_.rollup.wall.count()));
    return {base::Percent(share), share.value()};
  }
  static Cell Number(double value) { return {base::Plain(value), value}; }
  static Cell Micros(NanosF time) { return {base::Micros(time), time.count() / 1e3}; }

  const Analysis& analysis_;
  const CostUnit& unit_;
};

Table CostTable(const Analysis& analysis, const CostUnit& unit, std::size_t kernels) {
  const Rows rows(analysis, unit);
  Table table{"traced", "Traced " + unit.name(), rows.columns(), {}, {}};
  for (const analysis::Category& category : analysis::ByCategory(analysis.rollup)) {
    table.rows.push_back(rows.Of(category));
    const std::size_t all = category.kernels.size();
    const std::size_t shown = kernels > 0 && all <= kernels + 1 ? all : kernels;
    for (std::size_t i = 0; i < all; ++i) {
      table.rows.push_back(rows.Of(*category.kernels[i]));
      if (i >= shown) table.rows.back().audience = Audience::kMachines;
    }
  }
  table.rows.push_back(rows.Plain("[idle]", analysis.rollup.idle, Emphasis::kNone));
  table.rows.push_back(rows.Plain("window", analysis.rollup.wall, Emphasis::kTotal));
  return table;
}

std::string Headline(const Analysis& analysis, const CostUnit& unit) {
  const auto share = [&](Nanos time) {
    return base::Percent(Fraction(static_cast<double>(time.count()) /
                                  static_cast<double>(analysis.rollup.wall.count())));
  };
  return fmt::format("{} {} in the traced run: {} in kernels ({}), {} idle ({}).",
                     unit.text(analysis.per_token(analysis.rollup.wall)), unit.name(),
                     unit.text(analysis.per_token(analysis.rollup.exclusive())),
                     share(analysis.rollup.exclusive()),
                     unit.text(analysis.per_token(analysis.rollup.idle)),
                     share(analysis.rollup.idle));
}

std::string StepSentence(const Analysis& analysis) {
  if (!analysis.steps) return "";
  const auto& steps = *analysis.steps;
  std::string text =
      fmt::format("{} tokens in {} steps", base::Count(analysis.tokens), base::Count(steps.steps));
  if (steps.draft_passes > 0) text += fmt::format(" with {} draft passes", steps.draft_passes);
  const auto per_step = analysis.rollup.wall / steps.steps;
  return text + fmt::format(", {} ms a step.", base::Millis(per_step.value()));
}

}  // namespace

Report AnalyzeReport(const std::string& label, const Analysis& analysis, std::size_t kernels,
                     bool incomplete) {
  const CostUnit unit = CostUnit::Of(analysis.found.window.phase);
  Report report{.kind = "analyze", .title = base::Printable(label), .incomplete = incomplete};
  report.headline.push_back(Headline(analysis, unit));
  if (auto text = StepSentence(analysis); !text.empty()) report.headline.push_back(text);
  report.headline.push_back("Tracing changes speed: take ms per token from untraced runs.");
  AddProof(analysis.proof, "", report.proof);
  report.tables.push_back(CostTable(analysis, unit, kernels));
  AddAnalysisNotes(analysis, "", report.notes);
  SortNotes(report.notes);
  return report;
}

}  // namespace culprit::report
