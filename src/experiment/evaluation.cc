#include "experiment/evaluation.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "stats/sample.h"

namespace culprit::experiment {
namespace {

using base::NanosF;
using base::PerToken;

// One pair's trials: arms[0] is the baseline's, then in the order of the variants.
using Arms = std::vector<const TrialRecord*>;

std::size_t ArmCount(const Spec& spec) {
  return spec.design.same_variant ? 2 : spec.variants.size();
}

std::size_t ArmOf(const Spec& spec, const TrialRecord& trial) {
  if (spec.design.same_variant) return trial.baseline ? 0 : 1;
  const auto it = std::find_if(spec.variants.begin(), spec.variants.end(),
                               [&](const Variant& v) { return v.label == trial.variant; });
  return static_cast<std::size_t>(it - spec.variants.begin());
}

// Complete pairs by their number. A pair that was run again overwrites its first run.
std::vector<Arms> CompletePairs(const Spec& spec, std::span<const TrialRecord> trials) {
  std::map<int, Arms> pairs;
  for (const TrialRecord& trial : trials) {
    const std::size_t arm = ArmOf(spec, trial);
    if (arm >= ArmCount(spec)) continue;  // a variant that the experiment does not know
    Arms& arms = pairs[trial.pair];
    arms.resize(ArmCount(spec), nullptr);
    arms[arm] = &trial;
  }
  std::vector<Arms> complete;
  for (const auto& [number, arms] : pairs) {
    const bool whole = std::all_of(arms.begin(), arms.end(), [](const TrialRecord* trial) {
      return trial != nullptr && trial->valid();
    });
    if (whole) complete.push_back(arms);
  }
  return complete;
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
  }
  return judgement;
}

// Facts that follow from what a user can make different.
bool FollowsFrom(std::string_view fact, const Variant& a, const Variant& b) {
  constexpr std::array<std::string_view, 2> kOfKv = {"kv_cache_mib", "kv_cache_type"};
  constexpr std::array<std::string_view, 2> kOfBinary = {"build", "backend"};
  constexpr std::array<std::string_view, 3> kOfModel = {"model", "layers_on_device",
                                                        "kv_cache_mib"};
  const auto among = [&](const auto& facts) {
    return std::find(facts.begin(), facts.end(), fact) != facts.end();
  };
  if (a.kv != b.kv && among(kOfKv)) return true;
  if (a.binary != b.binary && among(kOfBinary)) return true;
  if (a.model != b.model && among(kOfModel)) return true;
  return a.arguments != b.arguments || a.environment != b.environment;
}

// How a trial went, which says nothing of its server.
bool OfTheTrial(std::string_view fact) { return fact == "prompt_from" || fact == "stopped"; }

std::vector<FactDifference> Differences(const Variant& a, const Variant& b,
                                        const TrialRecord& baseline, const TrialRecord& candidate) {
  std::map<std::string, std::pair<std::string, std::string>> both;
  for (const auto& [key, value] : baseline.facts) both[key].first = value;
  for (const auto& [key, value] : candidate.facts) both[key].second = value;
  std::vector<FactDifference> differences;
  for (const auto& [key, values] : both) {
    if (values.first == values.second || OfTheTrial(key)) continue;
    differences.push_back({key, values.first, values.second, FollowsFrom(key, a, b)});
  }
  return differences;
}

// The same bytes, wherever they lie.
bool SameCode(const TrialRecord& a, const TrialRecord& b) {
  const auto hashes = [](const TrialRecord& trial) {
    std::multiset<std::string> all;
    for (const auto& [path, hash] : trial.objects) all.insert(hash);
    return all;
  };
  return hashes(a) == hashes(b);
}

CandidateResult Compare(const Spec& spec, std::span<const Arms> pairs, std::size_t arm,
                        const NoiseFloors& floors) {
  const Variant& a = spec.variants[0];
  const Variant& b = spec.design.same_variant ? a : spec.variants[arm];
  CandidateResult result;
  const std::string label = b.label + (spec.design.same_variant ? " (again)" : "");
  result.summary = Summarize(label, pairs, arm);
  result.decode = Judge(spec, pairs, arm, Metric::kDecode, floors.decode);
  result.prefill = Judge(spec, pairs, arm, Metric::kPrefill, floors.prefill);
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

stats::Design DesignOf(const Design& design) {
  return design.pairs ? stats::Design::Fixed(static_cast<std::size_t>(*design.pairs))
                      : stats::Design::Sequential();
}

Evaluation Evaluate(const Spec& spec, std::span<const TrialRecord> trials,
                    const NoiseFloors& floors) {
  Evaluation evaluation;
  const std::vector<Arms> pairs = CompletePairs(spec, trials);
  evaluation.baseline = Summarize(spec.variants[0].label, pairs, 0);
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
  const stats::Design design = DesignOf(spec.design);
  evaluation.finished =
      std::all_of(evaluation.candidates.begin(), evaluation.candidates.end(),
                  [&](const auto& candidate) { return IsDecided(design, candidate.decode); });
  evaluation.ended_by_void = !evaluation.finished && !trials.empty() && !trials.back().valid();
  return evaluation;
}

}  // namespace culprit::experiment
