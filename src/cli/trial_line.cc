#include "cli/trial_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/number_format.h"
#include "base/printable.h"
#include "cli/run_report.h"
#include "experiment/evaluation.h"

namespace culprit::cli {
namespace {

using experiment::TrialRecord;

std::string Timed(const std::string& label, const TrialRecord& record) {
  std::string text = fmt::format("trial {} · pair {} · {}", record.id, record.pair + 1, label);
  const auto cost = experiment::CostOf(record, experiment::Metric::kDecode);
  if (cost && record.valid()) {
    text += fmt::format(" · {} ms/token, {} tok/s", base::Millis(cost->value()),
                        base::Rate(cost->value()));
  }
  return text;
}

std::string Traced(const std::string& label, const TrialRecord& record) {
  std::string text = fmt::format("{} {} · {} · {}", record.counted() ? "counts" : "trace",
                                 record.id, record.collector, label);
  if (record.counted()) text += fmt::format(" · {}", fmt::join(record.counters, ", "));
  if (record.trace) {
    text += fmt::format(" · {} in {} · {}", base::Bytes(record.trace->bytes),
                        base::Seconds(record.trace->flush), base::Printable(record.trace->how));
  }
  return text;
}

}  // namespace

std::string LineOf(const store::RunDirectory& run, const TrialRecord& record) {
  const std::string label =
      experiment::LabelOf(run.spec(), experiment::ArmOf(run.spec(), record).value());
  std::string text = record.traced() ? Traced(label, record) : Timed(label, record);
  for (const auto& objection : record.objections) {
    text += " · VOID: " + base::Printable(objection.text);
  }
  const std::string log = record.valid() ? "" : LogOf(run, record);
  return log.empty() ? text : text + "; its log is " + log;
}

std::string Outlook(const experiment::Spec& spec, std::span<const TrialRecord> trials,
                    base::Nanos per_trial) {
  const std::size_t arms = experiment::ArmCount(spec);
  std::map<int, std::set<std::size_t>> pairs;
  for (const TrialRecord& trial : trials) {
    const auto arm = experiment::ArmOf(spec, trial);
    if (trial.valid() && arm) pairs[trial.pair].insert(*arm);
  }
  const auto complete = [arms](const auto& pair) { return pair.second.size() == arms; };
  const auto done = static_cast<std::size_t>(std::ranges::count_if(pairs, complete));
  const stats::Design design = experiment::DesignOf(spec.design);
  const bool in_a_pair = pairs[trials.back().pair].size() < arms;
  if (in_a_pair || design.IsLook(done)) return "";
  const std::size_t look = *std::ranges::upper_bound(design.looks(), done);
  const auto left = static_cast<base::Nanos::rep>((look - done) * arms);
  return fmt::format("next look after {} pairs, in about {}", look,
                     base::Roughly(left * per_trial));
}

}  // namespace culprit::cli
