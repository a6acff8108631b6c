#include "report/second_opinion_table.h"

#include <fmt/format.h>

#include "base/number_format.h"
#include "base/printable.h"

namespace culprit::report {
namespace {

using base::Printable;
using gate::Estimate;
using enum Column::Kind;
using enum Audience;

Cell Small(double value) { return {base::Significant(value), value}; }
Cell Share(double value) { return {base::FinePercent(base::Fraction(value)), value}; }
// People see the error beside the value, machines in a column of its own.
Cell WithError(const Estimate& estimate) {
  return {
      fmt::format("{} ± {}", base::Significant(estimate.value), base::Significant(estimate.error)),
      estimate.value};
}

Row CandidateRow(const CandidateOpinion& opinion) {
  const std::string label = Printable(opinion.label);
  const gate::SecondOpinion& said = opinion.said;
  return {{{label, label},
           {base::Grouped(said.positions()), said.positions()},
           WithError(said.kl),
           Small(said.kl.error),
           Small(said.kl_median),
           Small(said.kl_p99),
           Small(said.kl_worst),
           Share(said.same_top.value),
           Share(said.same_top.error),
           Share(said.rms_delta.value),
           Share(said.rms_delta.error),
           Small(said.perplexity.value),
           Small(said.perplexity.error)}};
}

}  // namespace

Table SecondOpinionTable(const std::string& baseline, std::span<const CandidateOpinion> opinions) {
  Table table{"second_opinion",
              fmt::format("What llama-perplexity says beside {}", Printable(baseline)),
              {{"candidate", "candidate", kText},
               {"positions", "positions"},
               {"kl_nats", "KL divergence, mean"},
               {"kl_error_nats", "", kNumber, kMachines},
               {"kl_median_nats", "median"},
               {"kl_p99_nats", "99 %"},
               {"kl_worst_nats", "worst"},
               {"same_likeliest_share", "same likeliest"},
               {"same_likeliest_error_share", "", kNumber, kMachines},
               {"rms_delta_share", "RMS Δp"},
               {"rms_delta_error_share", "", kNumber, kMachines},
               {"perplexity", "perplexity"},
               {"perplexity_error", "", kNumber, kMachines}},
              {},
              {"In nats, ± one standard error, as llama-perplexity of each variant's own build "
               "computes them without its server. RMS Δp: how far the probability of the text's "
               "own token is off."}};
  for (const CandidateOpinion& opinion : opinions) {
    table.rows.push_back(CandidateRow(opinion));
    if (opinion.said.left_out.empty()) continue;
    std::string flags;
    for (const std::string& flag : opinion.said.left_out) flags += " " + Printable(flag);
    table.notes.push_back(
        fmt::format("{}: llama-perplexity was not given{}", Printable(opinion.label), flags));
  }
  return table;
}

}  // namespace culprit::report
