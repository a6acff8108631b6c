#include "report/classify_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/number_format.h"
#include "base/printable.h"

namespace culprit::report {
namespace {

using analysis::Class;
using analysis::RuleSet;
using base::Fraction;
using base::Nanos;

Cell Text(std::string_view hostile) {
  std::string text = base::Printable(hostile);
  return {text, text};
}

Cell SourceOf(const std::optional<std::size_t>& rule, const RuleSet& rules) {
  return rule ? Text(rules.rules[*rule].source) : Cell{"no rule", std::monostate()};
}
Cell WhyOf(const std::optional<std::size_t>& rule, const RuleSet& rules) {
  return rule ? Text(rules.rules[*rule].why) : Cell{};
}

// "when it stands right before attention, in a draft pass"
std::string When(const analysis::Outcome& outcome, bool only) {
  std::string when;
  if (outcome.place != analysis::Place::kUnknown) {
    when = fmt::format("as {}", Name(outcome.place));
  }
  if (outcome.pass) {
    when += *outcome.pass == analysis::PassKind::kDraft ? " in a draft pass" : " in a target pass";
  }
  if (!when.empty()) return when;
  return only ? "always" : "otherwise";
}

}  // namespace

Report ClassifyNamesReport(std::span<const std::string> names, const analysis::Launch& launch,
                           const RuleSet& rules) {
  using enum Column::Kind;
  Report report{.kind = "classify", .title = "Categories by name"};
  Table table{"kernels",
              "What the rules make of each name",
              {{"kernel", "kernel", kText},
               {"when", "when", kText},
               {"category", "category", kText},
               {"role", "role", kText},
               {"rule", "rule", kText},
               {"why", "why", kText},
               {"name", "", kText, Audience::kMachines}},
              {},
              {}};
  for (const std::string& name : names) {
    const auto explanation = Explain(name, trace::WorkKind::kKernel, launch, rules);
    for (const auto& outcome : explanation.outcomes) {
      Row row;
      row.cells = {Text(explanation.name.Short()),
                   Text(When(outcome, explanation.outcomes.size() == 1)),
                   Text(outcome.category),
                   Text(outcome.role),
                   SourceOf(outcome.rule, rules),
                   WhyOf(outcome.rule, rules),
                   Text(name)};
      table.rows.push_back(std::move(row));
    }
  }
  report.headline.push_back(
      fmt::format("{} name{}; rules are tried in order and the first match wins.", names.size(),
                  names.size() == 1 ? "" : "s"));
  report.tables.push_back(std::move(table));
  return report;
}

Report ClassifyTraceReport(const trace::Trace& trace, const analysis::Classification& classes,
                           const RuleSet& rules) {
  using enum Column::Kind;
  std::vector<Nanos> time(classes.classes.size());
  std::vector<std::int64_t> launches(classes.classes.size());
  Nanos all{};
  Nanos known{};
  // The whole trace as a window is half open: a dispatch without length at its end lies outside.
  for (std::size_t i = 0; i < classes.of.size(); ++i) {
    const std::size_t of = classes.of[i].index();
    const Nanos duration = trace.end[i] - trace.start[i];
    time[of] += duration;
    ++launches[of];
    all += duration;
    if (classes.classes[of].category != analysis::kUnclassified) known += duration;
  }
  std::vector<std::size_t> order(classes.classes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return time[a] > time[b]; });

  Table table{"classes",
              "Every class of dispatches, whole trace, dearest first",
              {{"category", "category", kText},
               {"kernel", "kernel", kText},
               {"role", "role", kText},
               {"launches", "launches"},
               {"summed_ms", "summed ms"},
               {"rule", "rule", kText},
               {"why", "why", kText},
               {"name", "", kText, Audience::kMachines}},
              {},
              {}};
  for (const std::size_t of : order) {
    const Class& one = classes.classes[of];
    if (launches[of] == 0) continue;
    Row row;
    row.cells = {Text(one.category),
                 Text(classes.names[one.kernel.index()].Short()),
                 Text(one.role),
                 {base::Grouped(launches[of]), launches[of]},
                 {base::Millis(time[of]), static_cast<double>(time[of].count()) / 1e6},
                 SourceOf(one.rule, rules),
                 WhyOf(one.rule, rules),
                 Text(trace.kernel_name(one.kernel))};
    table.rows.push_back(std::move(row));
  }
  const double whole = std::max(1.0, static_cast<double>(all.count()));
  Report report{.kind = "classify", .title = base::Printable(trace.path)};
  report.headline.push_back(
      fmt::format("{} of summed time has a category.",
                  base::Percent(Fraction(static_cast<double>(known.count()) / whole))));
  report.tables.push_back(std::move(table));
  return report;
}

}  // namespace culprit::report
