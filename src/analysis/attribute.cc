#include "analysis/attribute.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/check.h"
#include "stats/family.h"
#include "stats/sample.h"

namespace culprit::analysis {
namespace {

using base::Count;
using base::Fraction;
using base::Nanos;
using base::NanosF;
using base::PerToken;

constexpr double kSignificant = 0.05;
constexpr double kSmallestShareOfToken = 0.005;
constexpr double kTracedMayDiffer = 0.30;

Costs MakeCosts(const Analysis& analysis, const Cost& cost) {
  Costs costs;
  costs.per_token = cost.exclusive / analysis.tokens;
  costs.summed = cost.summed / analysis.tokens;
  costs.launches = cost.launches;
  const auto launches = static_cast<double>(cost.launches);
  if (analysis.rollup.steps > 0) {
    costs.launches_per_step = launches / static_cast<double>(analysis.rollup.steps);
  }
  if (cost.launches > 0) costs.per_launch = NanosF(cost.exclusive) / launches;
  return costs;
}

// SplitByLaunches weighs each factor's change with the mean of the other, as SplitBySteps does.
LaunchSplit SplitByLaunches(const DeltaRow& row, const Analysis& a, const Analysis& b) {
  if (!row.a.per_launch || !row.b.per_launch) return {row.delta(), PerToken(NanosF(0))};
  const double rate_a = static_cast<double>(row.a.launches) / static_cast<double>(Count(a.tokens));
  const double rate_b = static_cast<double>(row.b.launches) / static_cast<double>(Count(b.tokens));
  return {PerToken((rate_b - rate_a) * ((*row.a.per_launch + *row.b.per_launch) / 2)),
          PerToken(((rate_a + rate_b) / 2) * (*row.b.per_launch - *row.a.per_launch))};
}

// Series is a row's cost in each step, scaled so that its mean is the cost per token.
std::vector<double> Series(const Analysis& analysis, const Cost& cost) {
  const auto steps = static_cast<std::size_t>(analysis.rollup.steps);
  const double scale = static_cast<double>(steps) / static_cast<double>(Count(analysis.tokens));
  std::vector<double> series(steps, 0.0);
  for (std::size_t i = 0; i < cost.per_step.size(); ++i) {
    series[i] = static_cast<double>(cost.per_step[i].count()) * scale;
  }
  return series;
}

// Pair is a row's two sides on their way to a DeltaRow.
struct Pair {
  Cost a, b;
  std::string name, role, full_name;
  Nanos named_for{-1};  // exclusive time of the kernel that gave the name
};

DeltaRow MakeRow(RowKind kind, const Pair& pair, const Variant& a, const Variant& b) {
  DeltaRow row;
  row.kind = kind;
  row.name = pair.name;
  row.role = pair.role;
  row.full_name = pair.full_name;
  row.a = MakeCosts(a.analysis, pair.a);
  row.b = MakeCosts(b.analysis, pair.b);
  if (kind == RowKind::kKernel) row.split = SplitByLaunches(row, a.analysis, b.analysis);
  return row;
}

// AddInterval compares the row's steps; its p is raw until the table is complete.
void AddInterval(DeltaRow& row, const Pair& pair, const Variant& a, const Variant& b) {
  if (a.analysis.rollup.steps == 0 || b.analysis.rollup.steps == 0) return;
  const auto difference = stats::CompareSeries(Series(a.analysis, pair.a),
                                               Series(b.analysis, pair.b), /*resolution=*/1.0);
  row.p = difference.p;
  row.warnings = difference.warnings;
  if (!difference.interval) return;
  row.interval = {PerToken(NanosF(difference.interval->low)),
                  PerToken(NanosF(difference.interval->high))};
}

bool LargerChange(const DeltaRow& x, const DeltaRow& y) {
  const double a = std::abs(x.delta().value().count());
  const double b = std::abs(y.delta().value().count());
  return a != b ? a > b : x.name < y.name;
}

std::vector<DeltaRow> KernelRows(const std::map<std::string, Pair>& kernels, const Variant& a,
                                 const Variant& b) {
  std::vector<DeltaRow> rows;
  for (const auto& [identity, pair] : kernels) {
    rows.push_back(MakeRow(RowKind::kKernel, pair, a, b));
    AddInterval(rows.back(), pair, a, b);
  }
  std::sort(rows.begin(), rows.end(), LargerChange);
  return rows;
}

// SplitOfKernels adds up a category's kernels: its own mean per launch would move when a small
// kernel joins, although nothing became faster. Kernels that exist on one side only took each
// other's place and are split as if they were one kernel: 48 launches of one implementation that
// become 48 slower ones of another are slower launches.
LaunchSplit SplitOfKernels(const std::vector<DeltaRow>& kernels, const Analysis& a,
                           const Analysis& b) {
  LaunchSplit sum{PerToken(NanosF(0)), PerToken(NanosF(0))};
  const auto add = [&](const LaunchSplit& split) {
    sum.more_launches = sum.more_launches + split.more_launches;
    sum.slower_launches = sum.slower_launches + split.slower_launches;
  };
  DeltaRow replaced;
  const auto pool = [](Costs& all, const Costs& one) {
    const double launches = static_cast<double>(all.launches + one.launches);
    const NanosF before = all.per_launch.value_or(NanosF(0)) * static_cast<double>(all.launches);
    const NanosF more = one.per_launch.value_or(NanosF(0)) * static_cast<double>(one.launches);
    all.per_token = all.per_token + one.per_token;
    all.launches += one.launches;
    if (launches > 0) all.per_launch = (before + more) / launches;
  };
  for (const DeltaRow& kernel : kernels) {
    if (kernel.only_in_a() || kernel.only_in_b()) {
      pool(replaced.a, kernel.a);
      pool(replaced.b, kernel.b);
    } else {
      add(*kernel.split);
    }
  }
  add(SplitByLaunches(replaced, a, b));
  return sum;
}

std::vector<DeltaRow> CategoryRows(const Variant& a, const Variant& b) {
  std::map<std::string, std::map<std::string, Pair>> kernels;  // category → identity
  std::map<std::string, Pair> categories;
  const auto add = [&](const Rollup& rollup, Cost Pair::*side) {
    for (const KernelCost& kernel : rollup.kernels) {
      Pair& pair = kernels[kernel.category][kernel.identity];
      if (kernel.exclusive > pair.named_for) {
        pair.name = kernel.short_name;
        pair.role = kernel.role;
        pair.full_name = kernel.name;
        pair.named_for = kernel.exclusive;
      }
      pair.*side += kernel;
      categories[kernel.category].*side += kernel;
    }
  };
  add(a.analysis.rollup, &Pair::a);
  add(b.analysis.rollup, &Pair::b);
  std::vector<DeltaRow> rows;
  for (auto& [category, pair] : categories) {
    pair.name = category;
    rows.push_back(MakeRow(RowKind::kCategory, pair, a, b));
    AddInterval(rows.back(), pair, a, b);
    rows.back().kernels = KernelRows(kernels[category], a, b);
    rows.back().split = SplitOfKernels(rows.back().kernels, a.analysis, b.analysis);
  }
  return rows;
}

DeltaRow IdleRow(const Variant& a, const Variant& b) {
  Pair pair;
  pair.name = "[idle]";
  pair.a.exclusive = a.analysis.rollup.idle;
  pair.a.per_step = a.analysis.rollup.idle_per_step;
  pair.b.exclusive = b.analysis.rollup.idle;
  pair.b.per_step = b.analysis.rollup.idle_per_step;
  DeltaRow row = MakeRow(RowKind::kIdle, pair, a, b);
  AddInterval(row, pair, a, b);
  return row;
}

// Judge adjusts the p-values of a table as one family and marks what stands out.
void Judge(std::vector<DeltaRow>& rows, PerToken token) {
  std::vector<double> raw;
  for (const DeltaRow& row : rows) {
    if (row.p) raw.push_back(*row.p);
  }
  const auto adjusted = stats::HolmAdjust(raw);
  std::size_t next = 0;
  for (DeltaRow& row : rows) {
    if (!row.p) continue;
    row.p = adjusted[next++];
    const double share = std::abs(row.delta().value().count()) / token.value().count();
    row.stands_out = *row.p < kSignificant && share >= kSmallestShareOfToken;
  }
}

void AddShares(std::vector<DeltaRow>& rows, PerToken whole) {
  if (whole.value().count() == 0) return;
  for (DeltaRow& row : rows) {
    row.share = Fraction(row.delta().value() / whole.value());
    AddShares(row.kernels, whole);
  }
}

bool IsArtefact(const DeltaRow& row, PerToken scaled_delta) {
  const double traced = row.delta().value().count();
  const double scaled = scaled_delta.value().count();
  if (traced * scaled < 0) return true;
  if (!row.interval) return false;
  const double half_width =
      (row.interval->high.value().count() - row.interval->low.value().count()) / 2;
  return std::abs(scaled - traced) > half_width;
}

std::optional<Untraced> CompareUntraced(const Variant& a, const Variant& b,
                                        const Attribution& attribution) {
  const auto median_a = a.untraced_median();
  const auto median_b = b.untraced_median();
  if (!median_a || !median_b) return std::nullopt;
  Untraced untraced{*median_a,
                    *median_b,
                    a.untraced.size(),
                    b.untraced.size(),
                    *median_a - attribution.traced_a,
                    *median_b - attribution.traced_b,
                    {},
                    false};
  const double stretch_a = *median_a / attribution.traced_a;
  const double stretch_b = *median_b / attribution.traced_b;
  for (const DeltaRow& row : attribution.rows) {
    ScaledRow scaled{row.name, PerToken(row.a.per_token.value() * stretch_a),
                     PerToken(row.b.per_token.value() * stretch_b), false};
    scaled.artefact = IsArtefact(row, scaled.b - scaled.a);
    untraced.scaled.push_back(std::move(scaled));
  }
  const double clock = (*median_b - *median_a).value().count();
  const double traced = attribution.traced_delta().value().count();
  // Two changes that are both next to nothing differ by noise.
  const bool matters =
      std::abs(traced - clock) >= kSmallestShareOfToken * median_a->value().count();
  untraced.traced_change_differs =
      matters &&
      (traced * clock < 0 || std::abs(traced - clock) > kTracedMayDiffer * std::abs(clock));
  return untraced;
}

void SplitSteps(const Variant& a, const Variant& b, Attribution& attribution) {
  const double steps_a = a.analysis.steps_per_token();
  const double steps_b = b.analysis.steps_per_token();
  if (steps_a == 0 || steps_b == 0) return;
  const StepRate rate_a{attribution.traced_a, steps_a};
  const StepRate rate_b{attribution.traced_b, steps_b};
  attribution.per_step_a = rate_a.per_step();
  attribution.per_step_b = rate_b.per_step();
  if (steps_a != 1 || steps_b != 1) attribution.speculation = SplitBySteps(rate_a, rate_b);
}

const DeltaRow& IdleRow(const std::vector<DeltaRow>& rows) {
  return *std::ranges::find(rows, RowKind::kIdle, &DeltaRow::kind);
}

}  // namespace

std::optional<PerToken> Variant::untraced_median() const {
  if (untraced.empty()) return std::nullopt;
  std::vector<double> values;
  for (const PerToken time : untraced) values.push_back(time.value().count());
  return PerToken(NanosF(*stats::Summarize(values).median));
}

bool Attribution::noise_known() const {
  return std::ranges::any_of(rows, [](const DeltaRow& row) { return !!row.p; });
}

bool Attribution::tracing_made_idle() const {
  if (!untraced || !untraced->traced_change_differs) return false;
  const PerToken clock = untraced->b - untraced->a;
  const auto apart = [&](PerToken change) { return std::abs((change - clock).millis()); };
  return apart(traced_delta() - IdleRow(rows).delta()) < apart(traced_delta());
}

const DeltaRow* Attribution::culprit() const {
  const bool noise = noise_known(), without_idle = tracing_made_idle();
  const PerToken idle = without_idle ? IdleRow(rows).delta() : PerToken(NanosF(0));
  const double whole = (traced_delta() - idle).value().count();
  const auto found = std::ranges::find_if(rows, [&](const DeltaRow& row) {
    if (noise && !row.stands_out) return false;
    if (without_idle && row.kind == RowKind::kIdle) return false;
    return row.delta().value().count() * whole > 0;  // largest change first
  });
  return found == rows.end() ? nullptr : &*found;
}

base::Status Comparable(const Variant& a, const Variant& b) {
  const auto differs = [&](std::string_view what, std::int64_t x, std::int64_t y,
                           std::string hint) -> base::Status {
    return base::Fail(base::ErrorCode::kMismatch,
                      fmt::format("{} has {} {}, {} has {}", a.label, x, what, b.label, y), "",
                      std::move(hint));
  };
  const FoundWindow& in_a = a.analysis.found;
  const FoundWindow& in_b = b.analysis.found;
  if (in_a.window.phase != in_b.window.phase) {
    return base::Fail(base::ErrorCode::kMismatch, "one side is prefill, the other decode");
  }
  if (a.analysis.tokens != b.analysis.tokens) {
    return differs(in_a.window.phase == Phase::kDecode ? "tokens after the first" : "prompt tokens",
                   Count(a.analysis.tokens), Count(b.analysis.tokens),
                   "trace both with the same request, temperature 0 and the same length");
  }
  if (in_a.prompt && in_b.prompt && *in_a.prompt != *in_b.prompt) {
    return differs("prompt tokens", Count(*in_a.prompt), Count(*in_b.prompt),
                   "attention costs what the context is long: use one prompt");
  }
  return {};
}

Attribution Attribute(const Variant& a, const Variant& b) {
  CULPRIT_CHECK(Comparable(a, b).has_value());
  Attribution attribution{a.label,
                          b.label,
                          a.analysis.per_token(a.analysis.rollup.wall),
                          b.analysis.per_token(b.analysis.rollup.wall),
                          a.analysis.by,
                          CategoryRows(a, b)};
  attribution.rows.push_back(IdleRow(a, b));
  const PerToken token = std::max(attribution.traced_a, attribution.traced_b);
  Judge(attribution.rows, token);
  for (DeltaRow& row : attribution.rows) Judge(row.kernels, token);
  std::sort(attribution.rows.begin(), attribution.rows.end(), LargerChange);
  AddShares(attribution.rows, attribution.traced_delta());
  attribution.untraced = CompareUntraced(a, b, attribution);
  SplitSteps(a, b, attribution);
  return attribution;
}

}  // namespace culprit::analysis
