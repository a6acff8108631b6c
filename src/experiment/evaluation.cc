#include "experiment/evaluation.h"

#include <algorithm>
#include <array>
#include <map>

#include "experiment/residue.h"
#include "stats/sample.h"

namespace culprit::experiment {
namespace {

using base::NanosF;
using base::PerToken;

// One pair's trials: arms[0] is the baseline's, then in the order of the variants.
using Arms = std::vector<const TrialRecord*>;

// Pairs by their number, each with the last run of an arm, null where that is void or missing.
std::vector<Arms> PairsOf(const Spec& spec, std::span<const TrialRecord> trials) {
  std::map<int, Arms> pairs;
  for (const TrialRecord& trial : trials) {
    const auto arm = ArmOf(spec, trial);
    if (!arm) continue;
    Arms& arms = pairs[trial.pair];
    arms.resize(ArmCount(spec), nullptr);
    arms[*arm] = trial.valid() ? &trial : nullptr;
  }
  std::vector<Arms> all;
  all.reserve(pairs.size());
  for (auto& [number, arms] : pairs) all.push_back(std::move(arms));
  return all;
}

// The pairs that say something of one candidate, whatever became of the others.
std::vector<Arms> With(std::span<const Arms> pairs, std::size_t candidate) {
  std::vector<Arms> complete;
  std::copy_if(pairs.begin(), pairs.end(), std::back_inserter(complete),
               [&](const Arms& arms) { return arms[0] != nullptr && arms[candidate] != nullptr; });
  return complete;
}

// The baseline's runs are those that some candidate is compared with.
std::vector<Arms> WithAny(std::span<const Arms> pairs) {
  std::vector<Arms> some;
  std::copy_if(pairs.begin(), pairs.end(), std::back_inserter(some), [](const Arms& arms) {
    return arms[0] != nullptr && std::any_of(arms.begin() + 1, arms.end(),
                                             [](const TrialRecord* arm) { return arm != nullptr; });
  });
  return some;
}

std::size_t CountUnpaired(std::span<const TrialRecord> trials, std::span<const Arms> pairs) {
  std::size_t paired = 0;
  for (const Arms& arms : WithAny(pairs)) {
    paired += static_cast<std::size_t>(
        std::count_if(arms.begin(), arms.end(), [](const auto* arm) { return arm != nullptr; }));
  }
  const auto valid =
      std::count_if(trials.begin(), trials.end(), [](const auto& trial) { return trial.valid(); });
  return static_cast<std::size_t>(valid) - paired;
}

std::optional<double> Median(const std::vector<double>& values) {
  return stats::Quantile(values, 0.5);
}

std::optional<PerToken> MedianCost(std::span<const Arms> pairs, std::size_t arm, Metric metric) {
  std::vector<double> costs;
  for (const Arms& arms : pairs) {
    if (const auto cost = CostOf(*arms[arm], metric)) costs.push_back(cost->value().count());
  }
  const auto median = Median(costs);
  return median ? std::optional(PerToken(NanosF(*median))) : std::nullopt;
}

std::vector<double> DecodeClocks(std::span<const Arms> pairs, std::size_t arm) {
  std::vector<double> clocks;
  for (const Arms& arms : pairs) {
    const auto decode = arms[arm]->readings.find("decode");
    if (decode == arms[arm]->readings.end()) continue;
    const auto clock = decode->second.values.find("core_clock_mhz");
    if (clock != decode->second.values.end()) clocks.push_back(clock->second.mean);
  }
  return clocks;
}

VariantSummary Summarize(const std::string& label, std::span<const Arms> pairs, std::size_t arm) {
  VariantSummary summary{.label = label, .runs = pairs.size()};
  summary.decode = MedianCost(pairs, arm, Metric::kDecode);
  summary.prefill = MedianCost(pairs, arm, Metric::kPrefill);
  std::vector<double> acceptances;
  for (const Arms& arms : pairs) {
    if (const auto share = arms[arm]->completion->acceptance())
      acceptances.push_back(share->value());
    const auto kv = arms[arm]->facts.find("kv_cache_mib");
    if (kv != arms[arm]->facts.end()) summary.kv_cache_mib = kv->second;
  }
  if (const auto median = Median(acceptances)) summary.acceptance = base::Fraction(*median);
  summary.core_clock_mhz = Median(DecodeClocks(pairs, arm));
  return summary;
}

Judgement Judge(const Spec& spec, std::span<const Arms> pairs, std::size_t arm, Metric metric,
                std::optional<base::Fraction> floor) {
  Judgement judgement;
  judgement.metric = metric;
  judgement.margin = {
      metric == Metric::kDecode ? spec.design.decode_margin : spec.design.prefill_margin, floor};
  for (const Arms& arms : pairs) {
    const auto a = CostOf(*arms[0], metric), b = CostOf(*arms[arm], metric);
    if (!a || !b) continue;
    const stats::Pair pair{a->millis(), b->millis(), static_cast<std::size_t>(arms[0]->position),
                           static_cast<std::size_t>(arms[arm]->position)};
    if (pair.valid()) judgement.pairs.push_back(pair);
  }
  if (judgement.pairs.empty()) return judgement;
  const stats::Design design = DesignOf(spec.design);
  judgement.comparison = stats::ComparePairs(judgement.pairs, design.level());
  judgement.verdict = stats::Judge(design, *judgement.comparison, judgement.margin);
  if (judgement.verdict == stats::Verdict::kInconclusive) {
    judgement.more_pairs = stats::MorePairs(*judgement.comparison, judgement.margin);
    // A fixed design that is not at its end wants its own pairs first.
    const std::size_t have = judgement.pairs.size();
    if (spec.design.pairs && judgement.more_pairs && have < design.cap()) {
      judgement.more_pairs = std::max(*judgement.more_pairs, design.cap() - have);
    }
  }
  return judgement;
}

// SameCode tells whether two servers run the same bytes, wherever those lie: files of one name are
// equal, and no file of the server's own is there on one side only. What else is on one side only
// was loaded by a driver when it needed it.
bool SameCode(const TrialRecord& a, const TrialRecord& b) {
  const auto by_name = [](const TrialRecord& trial) {
    std::map<std::string, std::string> names;
    for (const auto& [path, hash] : trial.objects) names[path.substr(path.rfind('/') + 1)] = hash;
    return names;
  };
  const auto covers = [](const auto& names, const auto& others) {
    return std::all_of(others.begin(), others.end(), [&](const auto& other) {
      const auto it = names.find(other.first);
      if (it != names.end()) return it->second == other.second;
      return other.first.find("ggml") == std::string::npos &&
             other.first.find("llama") == std::string::npos;
    });
  };
  const auto names_a = by_name(a), names_b = by_name(b);
  return covers(names_a, names_b) && covers(names_b, names_a);
}

CandidateResult Compare(const Spec& spec, std::span<const Arms> all, std::size_t arm,
                        const NoiseFloors& floors) {
  const std::vector<Arms> pairs = With(all, arm);
  const Variant& a = spec.variants[0];
  const Variant& b = VariantOf(spec, arm);
  CandidateResult result;
  result.summary = Summarize(LabelOf(spec, arm), pairs, arm);
  result.decode = Judge(spec, pairs, arm, Metric::kDecode, floors.decode);
  result.prefill.metric = Metric::kPrefill;
  // One token of a kept prompt is evaluated anew: nothing to judge by.
  if (spec.workload.cache_prompt) {
    result.summary.prefill.reset();
  } else {
    result.prefill = Judge(spec, pairs, arm, Metric::kPrefill, floors.prefill);
  }
  for (const Arms& arms : pairs) {
    const auto& one = *arms[0]->completion;
    const auto& other = *arms[arm]->completion;
    result.same_text &= one.text == other.text && one.token_ids == other.token_ids;
  }
  if (pairs.empty()) return result;
  const TrialRecord& baseline = *pairs.back()[0];
  const TrialRecord& candidate = *pairs.back()[arm];
  result.differences = Differences(a, b, baseline, candidate);
  result.same_objects = !baseline.objects.empty() && SameCode(baseline, candidate) &&
                        a.ServerArguments() == b.ServerArguments() && a.model == b.model &&
                        a.environment == b.environment;
  return result;
}

bool IsDecided(const stats::Design& design, const Judgement& decode) {
  return decode.comparison &&
         stats::Next(design, *decode.comparison, decode.margin) != stats::NextStep::kContinue;
}

bool ClientDisagrees(const TrialRecord& trial) {
  const auto server = CostOf(trial, Metric::kDecode);
  const auto client = trial.completion ? trial.completion->streamed_per_token() : std::nullopt;
  if (!server || !client || server->millis() <= 0) return false;
  const double ratio = *client / *server;
  return ratio < 0.98 || ratio > 1.02;
}

bool IsDisturbed(const TrialRecord& trial) {
  constexpr double kCores = 0.25;
  const auto decode = trial.readings.find("decode");
  if (decode == trial.readings.end()) return false;
  const auto others = decode->second.values.find("other_cpu_cores");
  return others != decode->second.values.end() && others->second.mean > kCores;
}

}  // namespace

bool Evaluation::compared() const {
  return std::any_of(candidates.begin(), candidates.end(), [](const CandidateResult& candidate) {
    return candidate.decode.comparison || candidate.prefill.comparison;
  });
}

std::string_view Name(Metric metric) { return metric == Metric::kDecode ? "decode" : "prefill"; }

std::optional<PerToken> CostOf(const TrialRecord& trial, Metric metric) {
  if (!trial.completion || !trial.completion->timings) return std::nullopt;
  const ServerTimings& timings = *trial.completion->timings;
  if (metric == Metric::kDecode) return timings.per_token();
  if (Count(timings.prompt) <= 0 || timings.prompt_time <= NanosF::zero()) return std::nullopt;
  return PerToken(timings.prompt_time / static_cast<double>(Count(timings.prompt)));
}

std::size_t ArmCount(const Spec& spec) {
  return spec.design.same_variant ? 2 : spec.variants.size();
}

std::optional<std::size_t> ArmOf(const Spec& spec, const TrialRecord& trial) {
  if (spec.design.same_variant) return trial.baseline ? 0 : 1;
  const auto it = std::find_if(spec.variants.begin(), spec.variants.end(),
                               [&](const Variant& v) { return v.label == trial.variant; });
  if (it == spec.variants.end()) return std::nullopt;
  return static_cast<std::size_t>(it - spec.variants.begin());
}

const Variant& VariantOf(const Spec& spec, std::size_t arm) {
  return spec.variants[spec.design.same_variant ? 0 : arm];
}

std::string LabelOf(const Spec& spec, std::size_t arm) {
  const bool again = spec.design.same_variant && arm > 0;
  return VariantOf(spec, arm).label + (again ? " (again)" : "");
}

std::vector<const TrialRecord*> CountedTrials(const Spec& spec, std::span<const TrialRecord> trials,
                                              std::size_t arm) {
  const std::vector<Arms> pairs = PairsOf(spec, trials);
  std::vector<const TrialRecord*> counted;
  for (const Arms& arms : arm == 0 ? WithAny(pairs) : With(pairs, arm)) {
    counted.push_back(arms[arm]);
  }
  return counted;
}

stats::Design DesignOf(const Design& design) {
  return design.pairs ? stats::Design::Fixed(static_cast<std::size_t>(*design.pairs))
                      : stats::Design::Sequential();
}

Evaluation Evaluate(const Spec& spec, std::span<const TrialRecord> trials,
                    const NoiseFloors& floors) {
  Evaluation evaluation;
  const std::vector<Arms> pairs = PairsOf(spec, trials);
  evaluation.baseline = Summarize(spec.variants[0].label, WithAny(pairs), 0);
  if (spec.workload.cache_prompt) evaluation.baseline.prefill.reset();
  for (std::size_t arm = 1; arm < ArmCount(spec); ++arm) {
    evaluation.candidates.push_back(Compare(spec, pairs, arm, floors));
  }
  for (const TrialRecord& trial : trials) {
    if (!trial.valid()) {
      evaluation.voided.push_back({trial.id, trial.variant, trial.objections});
      continue;
    }
    evaluation.client_disagrees += ClientDisagrees(trial) ? 1 : 0;
    evaluation.disturbed += IsDisturbed(trial) ? 1 : 0;
  }
  evaluation.unpaired = CountUnpaired(trials, pairs);
  const stats::Design design = DesignOf(spec.design);
  evaluation.finished =
      std::all_of(evaluation.candidates.begin(), evaluation.candidates.end(),
                  [&](const auto& candidate) { return IsDecided(design, candidate.decode); });
  evaluation.ended_by_void = !evaluation.finished && !trials.empty() && !trials.back().valid();
  return evaluation;
}

}  // namespace culprit::experiment
