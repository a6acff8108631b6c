#include "lab/tracer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "experiment/contract.h"

namespace culprit::lab {
namespace {

using base::Fail;
using base::Result;
using experiment::TrialRecord;

// ArmsToTrace are the arms that have no trace that counts, or no pass of the counters.
std::vector<std::size_t> ArmsToTrace(const experiment::Spec& spec,
                                     std::span<const TrialRecord> traces,
                                     std::span<const std::string> counters) {
  std::vector<std::size_t> arms;
  for (std::size_t arm = 0; arm < experiment::ArmCount(spec); ++arm) {
    const bool traced = std::any_of(traces.begin(), traces.end(), [&](const TrialRecord& trial) {
      return trial.valid() && std::ranges::equal(trial.counters, counters) &&
             experiment::ArmOf(spec, trial) == arm;
    });
    if (!traced) arms.push_back(arm);
  }
  return arms;
}

class Tracer {
 public:
  Tracer(const TracePlan& plan, Bench& bench, const Notebook& notebook)
      : plan_(plan), bench_(bench), notebook_(notebook), traces_(plan.earlier) {}

  Result<std::vector<std::string>> Run() {
    std::vector<std::string> problems;
    for (const std::size_t arm : ArmsToTrace(plan_.spec, plan_.earlier, plan_.counters)) {
      auto problem = Trace(arm);
      if (!problem) return Fail(std::move(problem.error()));
      if (!problem->empty()) problems.push_back(*std::move(problem));
    }
    return problems;
  }

 private:
  // Returns why the arm has no trace, or "".
  Result<std::string> Trace(std::size_t arm) {
    for (int round = 1;; ++round) {
      auto record = RunOnce(arm);
      if (!record) return Fail(std::move(record.error()));
      record->counters = plan_.counters;
      auto objections =
          experiment::ObjectTo(*record, plan_.spec.workload, Measured(record->variant));
      std::move(objections.begin(), objections.end(), std::back_inserter(record->objections));
      if (auto kept = notebook_.end(*record); !kept) return Fail(std::move(kept.error()));
      traces_.push_back(*std::move(record));
      const TrialRecord& trial = traces_.back();
      if (trial.valid()) return std::string();
      const bool passing =
          std::all_of(trial.objections.begin(), trial.objections.end(), experiment::Temporary);
      if (passing && round < kMostTraces) continue;
      return fmt::format("{} has no {}: {}", experiment::LabelOf(plan_.spec, arm), Wanted(),
                         trial.objections.front().text);
    }
  }

  Result<TrialRecord> RunOnce(std::size_t arm) {
    auto folder = notebook_.begin();
    if (!folder) return Fail(std::move(folder.error()));
    const auto collector = plan_.collector();
    PlannedTrial planned;
    planned.id = traces_.empty() ? 1 : traces_.back().id + 1;
    planned.position = static_cast<int>(traces_.size());
    planned.baseline = arm == 0;
    planned.variant = &experiment::VariantOf(plan_.spec, arm);
    planned.folder = *std::move(folder);
    planned.slots = notebook_.slots;
    planned.collector = collector.get();
    if (auto ready = notebook_.starting(planned); !ready) return Fail(std::move(ready.error()));
    return RunTrial(plan_.spec, plan_.prompt, planned, bench_);
  }

  [[nodiscard]] std::string Wanted() const {
    return plan_.counters.empty() ? "trace"
                                  : fmt::format("counts of {}", fmt::join(plan_.counters, ", "));
  }

  [[nodiscard]] const TrialRecord* Measured(const std::string& variant) const {
    const auto it = std::find_if(plan_.timed.begin(), plan_.timed.end(), [&](const auto& trial) {
      return trial.valid() && trial.variant == variant;
    });
    return it == plan_.timed.end() ? nullptr : &*it;
  }

  const TracePlan& plan_;
  Bench& bench_;
  const Notebook& notebook_;
  std::vector<TrialRecord> traces_;
};

}  // namespace

bool HasAllTraces(const experiment::Spec& spec, std::span<const TrialRecord> traces,
                  std::span<const std::string> counters) {
  return ArmsToTrace(spec, traces, counters).empty();
}

base::Status CheckTraces(const TracePlan& plan, const sys::StopSignal& stop) {
  const auto collector = plan.collector();
  for (const std::size_t arm : ArmsToTrace(plan.spec, plan.earlier, plan.counters)) {
    const auto& variant = experiment::VariantOf(plan.spec, arm);
    auto can = collector->Check(SubjectOf(LaunchOf(plan.spec, variant, 0, "")), stop);
    if (!can) return Fail(std::move(can.error()).In(variant.label));
  }
  return {};
}

Result<std::vector<std::string>> TakeTraces(const TracePlan& plan, Bench& bench,
                                            const Notebook& notebook) {
  return Tracer(plan, bench, notebook).Run();
}

}  // namespace culprit::lab
