#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/analyze.h"
#include "analysis/speculation.h"
#include "base/result.h"
#include "base/units.h"
#include "stats/block_means.h"
#include "stats/warning.h"

namespace culprit::analysis {

// Variant is one side of a comparison. untraced has the time per token of each run without a
// profiler, of the same request; empty when none was given.
struct Variant {
  std::string label;  // hostile until printed
  Analysis analysis;
  std::vector<base::PerToken> untraced;
  std::vector<std::string> warnings;  // about its inputs, for the report

  // untraced_median is absent without runs.
  [[nodiscard]] std::optional<base::PerToken> untraced_median() const;
};

enum class RowKind { kCategory, kKernel, kIdle };

// Costs is what one row cost on one side, per token and per launch.
struct Costs {
  base::PerToken per_token{base::NanosF(0)};
  std::int64_t launches = 0;
  std::optional<double> launches_per_step = {};  // absent when steps are unknown
  std::optional<base::NanosF> per_launch = {};   // absent without launches
  base::PerToken summed{base::NanosF(0)};        // what adding up durations would say
};

// LaunchSplit divides a row's change into more launches and slower launches, like StepSplit. A
// kernel that exists on one side only is all "more launches". A category's is the sum of its
// kernels', where those on one side only count as one kernel that was replaced.
struct LaunchSplit {
  base::PerToken more_launches, slower_launches;
};

// DeltaRow is one line of an attribution. delta = b − a.
//
// share is the row's part of the whole traced change, signed; absent when that change is 0.
// interval holds for delta against the noise from step to step; absent when steps are unknown.
// stands_out: Holm-adjusted p < 0.05 over the table and at least 0.5 % of a token's time.
struct DeltaRow {
  RowKind kind = RowKind::kCategory;
  std::string name;  // category; or base name and arguments, hostile until printed
  std::string role;
  std::string full_name;  // of a kernel, on the side where it costs more
  Costs a, b;
  std::optional<base::Fraction> share = {};
  std::optional<LaunchSplit> split = {};
  struct Interval {
    base::PerToken low, high;
  };
  std::optional<Interval> interval = {};
  std::optional<double> p = {};               // adjusted
  std::vector<stats::Warning> warnings = {};  // why interval and p are weak, or absent
  bool stands_out = false;
  std::vector<DeltaRow> kernels = {};  // of a category, largest change first

  [[nodiscard]] base::PerToken delta() const { return b.per_token - a.per_token; }
  [[nodiscard]] bool only_in_a() const { return b.launches == 0 && a.launches > 0; }
  [[nodiscard]] bool only_in_b() const { return a.launches == 0 && b.launches > 0; }
};

// ScaledRow is a row of table (b): the traced time stretched so that each side's total is its
// untraced time. For looking at only. artefact marks a row that moves here in another direction
// than in the trace, or by more than its interval: scaling did that, not the change.
struct ScaledRow {
  std::string name;
  base::PerToken a, b;
  bool artefact;
};

// Untraced is what the clock said without a profiler.
struct Untraced {
  base::PerToken a, b;  // medians
  std::size_t runs_a, runs_b;
  base::PerToken unexplained_a, unexplained_b;  // untraced − traced
  std::vector<ScaledRow> scaled;
  // The traced change differs in sign or by more than 30 % from the untraced one: the rows explain
  // the traced runs, not the difference that users feel.
  bool traced_change_differs;
};

// Attribution says which rows make up the change from A to B.
//
// The second law holds: Σ rows.delta = traced change, and with unexplained = the untraced change.
// Attribute(b, a) is the exact negation of Attribute(a, b) (rows in the same order), and
// Attribute(a, a) has no row that stands out.
struct Attribution {
  std::string label_a, label_b;
  base::PerToken traced_a, traced_b;
  By by = By::kCategory;       // what the rows are beside [idle]
  std::vector<DeltaRow> rows;  // categories and [idle], largest change first
  std::optional<Untraced> untraced = {};
  std::optional<StepSplit> speculation = {};  // when either side has steps ≠ tokens
  std::optional<base::PerStep> per_step_a = {}, per_step_b = {};  // absent when steps are unknown

  [[nodiscard]] base::PerToken traced_delta() const { return traced_b - traced_a; }
  // noise_known is false where steps are unknown, as in a prefill: then no row can stand out.
  [[nodiscard]] bool noise_known() const;
  // tracing_made_idle tells whether the traced change is nearer to the clock's without idle time.
  [[nodiscard]] bool tracing_made_idle() const;
  // culprit is the row with the largest change in the direction of the whole that stands out, where
  // there is noise to stand out of. Idle time that tracing made is left out of both.
  [[nodiscard]] const DeltaRow* culprit() const;
};

// Comparable fails with kMismatch when A and B did different work: other numbers of prompt or
// output tokens, or other phases.
base::Status Comparable(const Variant& a, const Variant& b);

// Attribute compares two comparable variants.
Attribution Attribute(const Variant& a, const Variant& b);

}  // namespace culprit::analysis
