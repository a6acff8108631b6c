#include "report/steps_table.h"

#include "base/number_format.h"
#include "base/printable.h"

namespace culprit::report {
namespace {

using analysis::Analysis;

Cell Count(std::int64_t value) { return {base::Grouped(value), value}; }

Row VariantRow(const analysis::Variant& variant) {
  const Analysis& analysis = variant.analysis;
  const std::string label = base::Printable(variant.label);
  const auto per_token = analysis.per_token(analysis.rollup.wall);
  Row row;
  row.cells = {{label, label}, Count(base::Count(analysis.tokens))};
  if (analysis.steps) {
    const auto per_step = analysis.rollup.wall / analysis.steps->steps;
    row.cells.push_back(Count(base::Count(analysis.steps->steps)));
    row.cells.push_back(Count(analysis.steps->draft_passes));
    row.cells.push_back({base::Plain(analysis.steps_per_token()), analysis.steps_per_token()});
    row.cells.push_back({base::Millis(per_step.value()), per_step.millis()});
  } else {
    row.cells.resize(6);
  }
  row.cells.push_back({base::Millis(per_token.value()), per_token.millis()});
  return row;
}

}  // namespace

Table StepsTable(std::span<const analysis::Variant> variants) {
  using enum Column::Kind;
  Table table{"steps",
              "Steps and tokens, traced",
              {{"variant", "variant", kText},
               {"tokens", "tokens"},
               {"steps", "steps"},
               {"draft_passes", "draft passes"},
               {"steps_per_token", "steps/token"},
               {"ms_per_step", "ms/step"},
               {"ms_per_token", "ms/token"}},
              {},
              {}};
  for (const analysis::Variant& variant : variants) table.rows.push_back(VariantRow(variant));
  return table;
}

}  // namespace culprit::report
