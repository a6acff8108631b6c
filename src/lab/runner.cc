#include "lab/runner.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiment/contract.h"
#include "experiment/order.h"

namespace culprit::lab {
namespace {

using base::Fail;
using base::Result;
using experiment::Objection;
using experiment::Slot;
using experiment::Spec;
using experiment::TrialRecord;

class Runner {
 public:
  Runner(const Spec& spec, const std::string& prompt, const experiment::NoiseFloors& floors,
         std::vector<TrialRecord> earlier, Bench& bench, const Notebook& notebook)
      : spec_(spec),
        prompt_(prompt),
        floors_(floors),
        trials_(std::move(earlier)),
        bench_(bench),
        notebook_(notebook),
        arms_(experiment::ArmCount(spec)) {}

  Result<Outcome> Run() {
    const stats::Design design = experiment::DesignOf(spec_.design);
    const auto order =
        experiment::OrderOfTrials(arms_, design.cap(), spec_.design.seed.value_or(0));
    for (std::size_t pair = 0; pair < design.cap(); ++pair) {
      while (!IsComplete(static_cast<int>(pair))) {
        if (runs_of_pairs_ > static_cast<int>(pair) + kMostReruns) {
          return Outcome{false, fmt::format("too many pairs were void, the last one because {}",
                                            last_objection_)};
        }
        ++runs_of_pairs_;
        auto why = RunPair(order, pair);
        if (!why) return Fail(std::move(why.error()));
        if (!why->empty()) return Outcome{false, *std::move(why)};
      }
      runs_of_pairs_ = std::max(runs_of_pairs_, static_cast<int>(pair) + 1);
      if (experiment::Evaluate(spec_, trials_, floors_).finished) break;
    }
    return Outcome{.finished = true};
  }

 private:
  // The last run of a pair counts; it is complete when each arm has a valid trial in it.
  [[nodiscard]] bool IsComplete(int pair) const {
    std::vector<const TrialRecord*> last(arms_, nullptr);
    for (const TrialRecord& trial : trials_) {
      const auto arm = experiment::ArmOf(spec_, trial);
      if (arm && trial.pair == pair) last[*arm] = &trial;
    }
    return std::all_of(last.begin(), last.end(),
                       [](const TrialRecord* trial) { return trial != nullptr && trial->valid(); });
  }

  // Runs one pair; a void trial ends it, for the rest of it would count for nothing. Returns why
  // the experiment cannot go on, or "".
  Result<std::string> RunPair(const std::vector<Slot>& order, std::size_t pair) {
    const std::size_t first_of_pair = trials_.size();
    for (const Slot& slot : order) {
      if (slot.pair != pair) continue;
      auto record = RunSlot(slot);
      if (!record) return Fail(std::move(record.error()));
      CheckContract(first_of_pair, *record);
      if (auto kept = notebook_.end(*record); !kept) return Fail(std::move(kept.error()));
      trials_.push_back(*std::move(record));
      const TrialRecord& trial = trials_.back();
      if (trial.valid()) {
        busy_in_a_row_ = 0;
        continue;
      }
      const auto lasting =
          std::find_if_not(trial.objections.begin(), trial.objections.end(), experiment::Temporary);
      if (lasting != trial.objections.end()) {
        return fmt::format("trial {} ({}): {}", trial.id, trial.variant, lasting->text);
      }
      last_objection_ = trial.objections.front().text;
      // Each has waited for minutes: a machine that is busy twice in a row stays so.
      busy_in_a_row_ = trial.objections.front().id == experiment::kNotIdle ? busy_in_a_row_ + 1 : 0;
      return busy_in_a_row_ < 2 ? std::string() : last_objection_;
    }
    return std::string();
  }

  Result<TrialRecord> RunSlot(const Slot& slot) {
    auto folder = notebook_.begin();
    if (!folder) return Fail(std::move(folder.error()));
    PlannedTrial planned;
    planned.id = trials_.empty() ? 1 : trials_.back().id + 1;
    planned.pair = static_cast<int>(slot.pair);
    planned.position = trials_.empty() ? 0 : trials_.back().position + 1;
    planned.baseline = slot.variant == 0;
    planned.variant = &experiment::VariantOf(spec_, slot.variant);
    planned.folder = *std::move(folder);
    planned.slots = notebook_.slots;
    if (auto ready = notebook_.starting(planned); !ready) return Fail(std::move(ready.error()));
    return RunTrial(spec_, prompt_, planned, bench_);
  }

  // What speaks against a trial, alone and beside those of its pair that ran before it.
  void CheckContract(std::size_t first_of_pair, TrialRecord& record) const {
    const auto add = [&record](std::vector<Objection> objections) {
      for (Objection& objection : objections) record.objections.push_back(std::move(objection));
    };
    const auto earlier = std::find_if(
        trials_.begin(), trials_.end(),
        [&](const TrialRecord& trial) { return trial.valid() && trial.variant == record.variant; });
    add(experiment::ObjectTo(record, spec_.workload,
                             earlier == trials_.end() ? nullptr : &*earlier));
    for (std::size_t i = first_of_pair; record.valid() && i < trials_.size(); ++i) {
      if (record.baseline) {
        add(experiment::ObjectToPair(spec_, record, trials_[i]));
      } else if (trials_[i].baseline) {
        add(experiment::ObjectToPair(spec_, trials_[i], record));
      }
    }
  }

  const Spec& spec_;
  const std::string& prompt_;
  const experiment::NoiseFloors& floors_;
  std::vector<TrialRecord> trials_;
  Bench& bench_;
  const Notebook& notebook_;
  std::size_t arms_;
  int runs_of_pairs_ = 0;
  int busy_in_a_row_ = 0;
  std::string last_objection_;
};

}  // namespace

Result<Outcome> RunExperiment(const Spec& spec, const std::string& prompt,
                              const experiment::NoiseFloors& floors,
                              std::vector<TrialRecord> earlier, Bench& bench,
                              const Notebook& notebook) {
  return Runner(spec, prompt, floors, std::move(earlier), bench, notebook).Run();
}

}  // namespace culprit::lab
