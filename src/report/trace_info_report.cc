#include "report/trace_info_report.h"

#include <fmt/format.h>

#include "base/number_format.h"
#include "base/printable.h"
#include "report/analysis_notes.h"

namespace culprit::report {
namespace {

using base::Fraction;
using base::Nanos;

Cell Count(std::int64_t value) { return {base::Grouped(value), value}; }

Table CategoryTable(const analysis::Analysis& whole) {
  using enum Column::Kind;
  Table table{"categories",
              "Exclusive time by category, whole trace",
              {{"name", "category", kText},
               {"exclusive_ms", "ms"},
               {"share_of_busy", "of busy"},
               {"launches", "launches"},
               {"kernels", "kernels"}},
              {},
              {}};
  const auto busy = static_cast<double>(whole.rollup.exclusive().count());
  for (const auto& category : analysis::ByCategory(whole.rollup)) {
    const std::string name = base::Printable(category.name);
    const auto exclusive = static_cast<double>(category.cost.exclusive.count());
    const Fraction share(busy > 0 ? exclusive / busy : 0);
    Row row;
    row.cells = {{name, name},
                 {base::Millis(category.cost.exclusive), exclusive / 1e6},
                 {base::Percent(share), share.value()},
                 Count(category.cost.launches),
                 Count(static_cast<std::int64_t>(category.kernels.size()))};
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table LaneTable(const analysis::TraceSummary& trace) {
  using enum Column::Kind;
  Table table{"lanes",
              "Where work ran",
              {{"device", "device", kText},
               {"queue", "queue"},
               {"stream", "stream"},
               {"dispatches", "dispatches"},
               {"summed_ms", "summed ms"}},
              {},
              {}};
  const auto number = [](const std::optional<std::int64_t>& value) {
    return value ? Cell{fmt::format("{}", *value), *value} : Cell{};
  };
  for (const auto& lane : trace.lanes) {
    const std::string device = base::Printable(lane.device);
    Row row;
    row.cells = {{device, device},
                 number(lane.queue),
                 number(lane.stream),
                 Count(lane.dispatches),
                 {base::Millis(lane.summed), static_cast<double>(lane.summed.count()) / 1e6}};
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

Report TraceInfoReport(const analysis::TraceSummary& trace, const analysis::Analysis& whole) {
  Report report{.kind = "trace-info", .title = base::Printable(trace.path)};
  report.headline.push_back(fmt::format(
      "{}: {} dispatches of {} kernels in {}, busy for {}.", base::Printable(trace.format),
      base::Grouped(trace.dispatches), base::Grouped(trace.kernels),
      base::Seconds(whole.rollup.wall), base::Seconds(whole.rollup.exclusive())));
  report.headline.push_back(fmt::format("Stamps are nanoseconds of {}.", base::Name(trace.clock)));
  report.tables.push_back(CategoryTable(whole));
  report.tables.push_back(LaneTable(trace));
  AddFileNotes(whole, report.notes);
  SortNotes(report.notes);
  return report;
}

}  // namespace culprit::report
