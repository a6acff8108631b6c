#include "report/power_report.h"

#include <fmt/format.h>

#include <cmath>

#include "base/number_format.h"

namespace culprit::report {
namespace {

using base::Fraction;
using stats::Outcomes;
using stats::PowerStudy;
using stats::Verdict;

Cell Share(Fraction share) { return {base::Percent(share), share.value()}; }
Cell Change(Fraction change) { return {base::FinePercent(change), change.value()}; }

// "sequential, up to 10 pairs", "fixed, 6 pairs"
std::string NameOf(const stats::Design& design) {
  return design.looks().size() > 1 ? fmt::format("sequential, up to {} pairs", design.cap())
                                   : fmt::format("fixed, {} pairs", design.cap());
}

Table PowerTable(const PowerStudy& study) {
  using enum Column::Kind;
  Table table{"power",
              "Verdicts by the true change",
              {{"design", "design", kText},
               {"true_change_share", "true change"},
               {"share_regression", "regression"},
               {"share_improvement", "improvement"},
               {"share_no_meaningful_difference", "no difference"},
               {"share_inconclusive", "inconclusive"},
               {"pairs_used", "pairs"}},
              {},
              {"no difference: none that matters. pairs: used on average."}};
  for (const auto& of_design : study.designs) {
    std::string name = NameOf(of_design.design);
    for (const auto& [effect, outcomes] : of_design.effects) {
      const bool nothing = effect.value() == 0;
      table.rows.push_back({{{nothing ? name : "", name},
                             {nothing ? "none" : base::SignedPercent(effect), effect.value()},
                             Share(outcomes.share(Verdict::kRegression)),
                             Share(outcomes.share(Verdict::kImprovement)),
                             Share(outcomes.share(Verdict::kNoMeaningfulDifference)),
                             Share(outcomes.share(Verdict::kInconclusive)),
                             {base::Plain(outcomes.mean_pairs()), outcomes.mean_pairs()}}});
    }
  }
  return table;
}

Table DesignTable(const PowerStudy& study) {
  using enum Column::Kind;
  Table table{
      "designs",
      "What the interval can tell from zero",
      {{"design", "design", kText},
       {"half_width_share", "±95 %"},
       {"detectable_share", "detectable"}},
      {},
      {"±95 %: half of the interval where the experiment stops, at no change, on average. A "
       "sequential design widens it at each look, so that all looks together miss the truth "
       "in 5 % of experiments.",
       "detectable: a true change of this size has an 80 % chance of an interval without "
       "zero after the last pair."}};
  for (const auto& [design, detectable, effects] : study.designs) {
    const std::string name = NameOf(design);
    const Fraction half_width(std::expm1(effects.front().outcomes.mean_half_width()));
    table.rows.push_back({{{name, name}, Change(half_width), Change(detectable)}});
  }
  return table;
}

// The headline speaks of the first design.
std::vector<std::string> Headline(const PowerStudy& study) {
  constexpr Fraction kTelling(0.02);
  const auto& [design, detectable, effects] = study.designs.front();
  std::vector<std::string> sentences;
  for (const auto& [effect, outcomes] : effects) {
    if (effect != kTelling) continue;
    sentences.push_back(
        fmt::format("A candidate {} slower is called a regression in {} of experiments ({}), after "
                    "{} pairs on average.",
                    base::Percent(effect), base::Percent(outcomes.share(Verdict::kRegression)),
                    NameOf(design), base::Plain(outcomes.mean_pairs())));
  }
  const Outcomes& nothing = effects.front().outcomes;
  sentences.push_back(
      fmt::format("One that is no slower is called so (no meaningful difference) in {}, after {}.",
                  base::Percent(nothing.share(Verdict::kNoMeaningfulDifference)),
                  base::Plain(nothing.mean_pairs())));
  return sentences;
}

}  // namespace

Report PowerReport(const PowerStudy& study, const std::string& source) {
  Report report{
      .kind = "power",
      .title = fmt::format("Noise of {} a run, margin {}", base::FinePercent(study.deviation),
                           base::FinePercent(study.margin.wanted))};
  report.headline = Headline(study);
  report.tables = {PowerTable(study), DesignTable(study)};
  if (!source.empty()) report.notes.push_back({Note::Level::kInfo, "noise_from", source});
  report.notes.push_back(
      {Note::Level::kInfo, "simulated",
       fmt::format("{} simulated experiments a row, with independent normal noise. Outliers take "
                   "power away; a drift of the machine hardly does",
                   base::Grouped(static_cast<std::int64_t>(study.experiments)))});
  return report;
}

}  // namespace culprit::report
