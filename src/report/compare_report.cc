#include "report/compare_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/number_format.h"
#include "base/printable.h"
#include "report/analysis_notes.h"
#include "report/attribution_tables.h"
#include "report/steps_table.h"

namespace culprit::report {
namespace {

using analysis::Attribution;
using analysis::DeltaRow;
using analysis::RowKind;
using analysis::Variant;
using base::Fraction;
using base::PerToken;

// Story writes the sentences about one pair.
class Story {
 public:
  Story(const Attribution& attribution, const CostUnit& unit, analysis::Phase phase)
      : attribution_(attribution),
        unit_(unit),
        verb_(phase == analysis::Phase::kDecode ? "decodes" : "reads its prompt"),
        a_(base::Printable(attribution.label_a)),
        b_(base::Printable(attribution.label_b)) {}

  // The answer: what the clock says without a profiler. A traced run gives no speed.
  [[nodiscard]] std::string Headline() const {
    const auto& untraced = attribution_.untraced;
    if (!untraced) {
      return fmt::format(
          "{} costs {} {} against {} in the traced runs. Tracing changes speed: without untraced "
          "times nothing is said about how much slower {} is.",
          b_, unit_.signed_text(attribution_.traced_delta()), unit_.name(), a_, b_);
    }
    const PerToken delta = untraced->b - untraced->a;
    const Fraction change(delta / untraced->a);
    const std::string size = base::Millis(base::NanosF(std::abs(unit_.number(delta)) * 1e6));
    if (size == base::Millis(base::NanosF(0))) {
      return fmt::format("{} {} as fast as {}, untraced: {} {} ({}).", b_, verb_, a_,
                         unit_.text(untraced->b), unit_.name(), Runs(*untraced));
    }
    return fmt::format("{} {} {} {} {} than {} ({}), untraced: {} against {} ({}).", b_, verb_,
                       size, unit_.name(), delta.value().count() < 0 ? "faster" : "slower", a_,
                       base::SignedPercent(change), unit_.text(untraced->b),
                       unit_.text(untraced->a), Runs(*untraced));
  }

  [[nodiscard]] std::string Culprit() const {
    const DeltaRow* row = attribution_.culprit();
    if (row == nullptr) {
      return fmt::format(
          "No {} stands out of the step-to-step noise in the direction of the change.",
          Name(attribution_.by));
    }
    if (!attribution_.noise_known()) {
      return fmt::format(
          "{} changed most, by {} {}, {} of the traced change. One pass has no step-to-step noise "
          "to compare with: measure again before you believe a small row.",
          base::Printable(row->name), unit_.signed_text(row->delta()), unit_.name(),
          base::Percent(row->share.value_or(Fraction(0))));
    }
    return fmt::format("{} costs {} {}, {} of the traced change.", base::Printable(row->name),
                       unit_.signed_text(row->delta()), unit_.name(),
                       base::Percent(row->share.value_or(Fraction(0))));
  }

  [[nodiscard]] std::string Speculation() const {
    if (!attribution_.speculation) return "";
    const auto& split = *attribution_.speculation;
    return fmt::format(
        "Steps: {} → {} ms each. Of the traced change, {} {} comes from {} steps per token and {} "
        "from {} steps.",
        base::Millis(attribution_.per_step_a->value()),
        base::Millis(attribution_.per_step_b->value()), unit_.signed_text(split.more_steps),
        unit_.name(), split.more_steps.millis() < 0 ? "fewer" : "more",
        unit_.signed_text(split.slower_steps),
        split.slower_steps.millis() < 0 ? "faster" : "slower");
  }

  // Where the traced and the untraced change part, the rows explain the traced one only.
  [[nodiscard]] std::string Invalidity() const {
    const auto& untraced = attribution_.untraced;
    if (!untraced || !untraced->traced_change_differs) return "";
    const PerToken clock = untraced->b - untraced->a;
    const PerToken traced = attribution_.traced_delta();
    return fmt::format(
        "The attribution is not valid for the untraced change: traced {} {}, untraced {}. In the "
        "traced runs kernels changed by {} and idle time by {}: {}.",
        unit_.signed_text(traced), unit_.name(), unit_.signed_text(clock),
        unit_.signed_text(traced - Idle().delta()), unit_.signed_text(Idle().delta()),
        attribution_.tracing_made_idle()
            ? "idle is where tracing slows the host, so look at the kernels' rows, not at shares "
              "of the whole"
            : "the rows explain the traced runs, and what the clock adds is [unexplained]");
  }

  [[nodiscard]] std::string TracingCost() const {
    const auto& untraced = attribution_.untraced;
    if (!untraced) return "";
    const auto slowed = [](PerToken traced, PerToken clock) {
      return base::SignedPercent(Fraction(traced / clock - 1));
    };
    return fmt::format("traced against untraced time: {} ({}), {} ({})",
                       slowed(attribution_.traced_a, untraced->a), a_,
                       slowed(attribution_.traced_b, untraced->b), b_);
  }

  // What summing durations would have blamed, as other tools do.
  [[nodiscard]] std::string SummedWouldBlame() const {
    const DeltaRow* worst = nullptr;
    const auto excess = [](const DeltaRow& row) {
      return ((row.b.summed - row.a.summed) - row.delta()).value().count();
    };
    for (const DeltaRow& category : attribution_.rows) {
      for (const DeltaRow& row : category.kernels) {
        if (worst == nullptr || std::abs(excess(row)) > std::abs(excess(*worst))) worst = &row;
      }
    }
    const double token = attribution_.traced_a.value().count();
    if (worst == nullptr || std::abs(excess(*worst)) < 0.01 * token) return "";
    return fmt::format(
        "adding up durations would have booked {} {} on {}; it waits for earlier kernels of its "
        "stream and owns {}",
        unit_.signed_text(worst->b.summed - worst->a.summed), unit_.name(), BaseName(*worst),
        unit_.signed_text(worst->delta()));
  }

  // What to look at next, from the largest row and what its change is made of.
  [[nodiscard]] std::vector<std::string> Advice() const {
    const DeltaRow* row = attribution_.culprit();
    if (row == nullptr) {
      return {"Nothing to chase here: measure more pairs before looking at kernels."};
    }
    if (row->kind == RowKind::kIdle) {
      if (row->delta().value().count() < 0) {
        return {
            "Less time passes with nothing running: check that idle also shrinks without a "
            "profiler."};
      }
      return {
          "More time passes with nothing running: look at the host (sampling, launches, clocks of "
          "the CPU, synchronising copies), and check that idle also grows without a profiler."};
    }
    return {KernelAdvice(*row)};
  }

 private:
  [[nodiscard]] const DeltaRow& Idle() const {
    return *std::ranges::find(attribution_.rows, RowKind::kIdle, &DeltaRow::kind);
  }

  static std::string Runs(const analysis::Untraced& untraced) {
    if (untraced.runs_a == 1 && untraced.runs_b == 1) return "one run each";
    if (untraced.runs_a == untraced.runs_b) {
      return fmt::format("medians of {} runs each", untraced.runs_a);
    }
    return fmt::format("medians of {} and {} runs", untraced.runs_b, untraced.runs_a);
  }

  static std::string BaseName(const DeltaRow& row) {
    return base::Shortened(base::Printable(row.name), 60);
  }

  // "3 → 9 a step"; in prefill, which has no steps, "72 → 216".
  static std::string LaunchCounts(const DeltaRow& row) {
    if (!row.a.launches_per_step || !row.b.launches_per_step) {
      return fmt::format("{} → {}", base::Grouped(row.a.launches), base::Grouped(row.b.launches));
    }
    return fmt::format("{} → {} a step", base::Plain(*row.a.launches_per_step),
                       base::Plain(*row.b.launches_per_step));
  }

  [[nodiscard]] std::string KernelAdvice(const DeltaRow& category) const {
    const DeltaRow* appeared = nullptr;
    const DeltaRow* vanished = nullptr;
    for (const DeltaRow& kernel : category.kernels) {  // largest change first
      // A kernel that makes up less than a tenth of the change does not explain it.
      const double part = kernel.delta() / category.delta();
      if (std::abs(part) < 0.1 && !category.only_in_a() && !category.only_in_b()) break;
      if (kernel.only_in_b() && appeared == nullptr) appeared = &kernel;
      if (kernel.only_in_a() && vanished == nullptr) vanished = &kernel;
    }
    const std::string name = base::Printable(category.name);
    if (appeared != nullptr && vanished != nullptr) {
      return fmt::format(
          "{}: {} runs {} where {} runs {}. Find out why the other kernel is chosen.", name, b_,
          BaseName(*appeared), a_, BaseName(*vanished));
    }
    if (appeared != nullptr || vanished != nullptr) {
      return fmt::format("{}: {} runs only in {}. Find out what asks for it.", name,
                         BaseName(appeared != nullptr ? *appeared : *vanished),
                         appeared != nullptr ? b_ : a_);
    }
    return LaunchAdvice(name, category);
  }

  [[nodiscard]] static std::string LaunchAdvice(const std::string& name, const DeltaRow& category) {
    const double more = category.split->more_launches.millis();
    const double slower = category.split->slower_launches.millis();
    if (std::abs(more) > std::abs(slower)) {
      return fmt::format("{}: it is launched {} often ({}); a launch costs about the same.", name,
                         more < 0 ? "less" : "more", LaunchCounts(category));
    }
    // The kernel's own times where it has them on both sides, else the mean of its category.
    const DeltaRow& kernel = category.kernels.front();
    const DeltaRow& row = kernel.a.per_launch && kernel.b.per_launch ? kernel : category;
    const std::string times =
        fmt::format("{} → {} µs", base::Micros(*row.a.per_launch), base::Micros(*row.b.per_launch));
    if (slower < 0) return fmt::format("{}: each launch is faster ({}).", name, times);
    return fmt::format("{}: each launch is slower ({}); profile {} alone.", name, times,
                       BaseName(kernel));
  }

  const Attribution& attribution_;
  const CostUnit& unit_;
  std::string verb_, a_, b_;
};

// AddPair tells about one candidate. Where there are several, each sentence that does not name it
// begins with its label, each table with the pair, and the ids of later tables end in a number.
void AddPair(const Attribution& attribution, const CostUnit& unit, analysis::Phase phase,
             const CompareWishes& wishes, std::optional<std::size_t> number, Report& report) {
  const std::string candidate = base::Printable(attribution.label_b);
  const std::string lead = number ? candidate + ": " : "";
  const Story story(attribution, unit, phase);
  if (!wishes.judged) report.headline.push_back(story.Headline());
  report.headline.push_back((wishes.judged ? lead : "") + story.Culprit());
  if (auto text = story.Speculation(); !text.empty()) report.headline.push_back(std::move(text));
  const auto note = [&](Note::Level level, const char* id, const std::string& text) {
    if (!text.empty()) report.notes.push_back({level, id, lead + text});
  };
  note(Note::Level::kWarning, "not_valid_for_untraced_delta", story.Invalidity());
  if (auto text = story.TracingCost(); !text.empty()) {
    report.notes.push_back({Note::Level::kInfo, "tracing_cost", std::move(text)});
  }
  note(Note::Level::kNotice, "summed_would_blame", story.SummedWouldBlame());
  for (const std::string& advice : story.Advice()) report.advice.push_back(lead + advice);

  const auto add = [&](Table table) {
    if (number) {
      table.title =
          fmt::format("{} → {}: {}", base::Printable(attribution.label_a), candidate, table.title);
      if (*number > 0) table.id += fmt::format("_{}", *number + 1);
    }
    report.tables.push_back(std::move(table));
  };
  add(TracedTable(attribution, unit, wishes.kernels));
  if (attribution.untraced) add(ScaledTable(attribution, unit));
}

}  // namespace

Report CompareReport(std::span<const Variant> variants, std::span<const Attribution> attributions,
                     const CompareWishes& wishes) {
  const analysis::Phase phase = variants.front().analysis.found.window.phase;
  const CostUnit unit = CostUnit::Of(phase);
  Report report{.kind = "compare", .title = "", .incomplete = wishes.incomplete};
  for (const Variant& variant : variants) {
    const std::size_t at = report.title.empty() ? 0 : &variant == &variants[1] ? 1 : 2;
    constexpr const char* kBetween[] = {"", " → ", ", "};  // "f16 → q4, nofa"
    report.title += kBetween[at] + base::Printable(variant.label);
    AddProof(variant.analysis.proof, base::Printable(variant.label), report.proof);
  }
  for (std::size_t i = 0; i < attributions.size(); ++i) {
    const auto number = attributions.size() > 1 ? std::optional(i) : std::nullopt;
    AddPair(attributions[i], unit, phase, wishes, number, report);
  }
  const bool speculates = std::ranges::any_of(
      attributions, [](const Attribution& pair) { return pair.speculation.has_value(); });
  if (speculates) report.tables.push_back(StepsTable(variants));
  for (const Variant& variant : variants) {
    for (const std::string& warning : variant.warnings) {
      report.notes.push_back({Note::Level::kWarning, "input",
                              base::Printable(variant.label) + ": " + base::Printable(warning)});
    }
    AddAnalysisNotes(variant.analysis, base::Printable(variant.label), report.notes);
  }
  SortNotes(report.notes);
  return report;
}

}  // namespace culprit::report
