#include "gate/gate_run.h"

#include <algorithm>
#include <utility>

namespace culprit::gate {
namespace {

int Weight(Outcome outcome) {
  switch (outcome) {
    case Outcome::kIdentical:
      return 0;
    case Outcome::kEquivalent:
      return 1;
    case Outcome::kNotComparable:
      return 2;
    case Outcome::kDiverged:
      return 3;
    case Outcome::kBroken:
      return 4;
  }
  return 4;
}

// Of two answers, which one a reader must hear of; of two that are called the same, the one that is
// further apart.
std::pair<int, double> WeightOf(const GateResult& result) {
  return {Weight(result.outcome), result.summary.Worst(Metric::kTotalVariation)};
}

std::optional<Summary> NoiseOf(const std::vector<Position>& itself) {
  if (itself.empty()) return std::nullopt;
  return Comparison(itself).Summarize();
}

GateResult JudgeProbe(const Probe& probe, const Candidate& candidate, const Level& level) {
  const Comparison between(candidate.positions);
  return Judge({.between = between,
                .baseline_itself = NoiseOf(probe.baseline_itself),
                .candidate_itself = NoiseOf(candidate.itself),
                .fork = candidate.fork,
                .baseline_loop = probe.baseline_loop,
                .candidate_loop = candidate.loop,
                .baseline_cache = probe.baseline_cache,
                .candidate_cache = candidate.cache,
                .flaw = candidate.flaw,
                .other_chat = candidate.other_chat,
                .not_comparable = candidate.not_comparable},
               level);
}

}  // namespace

std::vector<Verdict> JudgeRun(const GateRun& run) {
  std::vector<Verdict> verdicts;
  const std::size_t candidates = run.probes.empty() ? 0 : run.probes.front().candidates.size();
  for (std::size_t i = 0; i < candidates; ++i) {
    Verdict verdict{.label = run.probes.front().candidates[i].label, .results = {}};
    const auto& approximate = run.approximate;
    verdict.approximate =
        std::find(approximate.begin(), approximate.end(), verdict.label) != approximate.end();
    for (const Probe& probe : run.probes) {
      verdict.results.push_back(JudgeProbe(probe, probe.candidates[i], run.level));
    }
    const auto worst = std::max_element(
        verdict.results.begin(), verdict.results.end(),
        [](const GateResult& a, const GateResult& b) { return WeightOf(a) < WeightOf(b); });
    verdict.worst = static_cast<std::size_t>(worst - verdict.results.begin());
    verdicts.push_back(std::move(verdict));
  }
  return verdicts;
}

Decision Decide(const std::vector<Verdict>& verdicts) {
  Decision decision = Decision::kPassed;
  for (const Verdict& verdict : verdicts) {
    if (verdict.passed()) continue;
    if (verdict.result().outcome != Outcome::kNotComparable) return Decision::kFailed;
    decision = Decision::kCannotTell;
  }
  return decision;
}

}  // namespace culprit::gate
