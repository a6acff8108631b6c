#include "store/recorded_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "experiment/contract.h"
#include "store/completion_json.h"
#include "sys/folder.h"

namespace culprit::store {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::Fail;
using base::Result;
using base::Tokens;
using experiment::TrialRecord;

// untraced-0.json, untraced-1.json, …, untraced-10.json: by number, then by name.
std::vector<std::string> RunFiles(const std::string& folder) {
  std::vector<std::string> files;
  for (const std::string& name : sys::NamesIn(folder).value_or(std::vector<std::string>())) {
    if (name.starts_with("untraced-") && name.ends_with(".json")) {
      files.push_back((fs::path(folder) / name).string());
    }
  }
  std::sort(files.begin(), files.end(), [](const std::string& a, const std::string& b) {
    return std::pair(a.size(), a) < std::pair(b.size(), b);
  });
  return files;
}

Tokens MostCommon(const std::vector<TrialRecord>& trials, Tokens (*of)(const TrialRecord&)) {
  std::map<Tokens, int> counts;
  for (const TrialRecord& trial : trials) ++counts[of(trial)];
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return most->first;
}

// Positions by the time of sending, where all runs have one on one clock.
void OrderByTime(std::vector<TrialRecord>& trials) {
  const auto clock = trials.front().completion->clock;
  const bool timed = std::all_of(trials.begin(), trials.end(), [&](const TrialRecord& trial) {
    return trial.completion->sent && trial.completion->clock == clock;
  });
  std::stable_sort(trials.begin(), trials.end(), [&](const TrialRecord& a, const TrialRecord& b) {
    return timed ? *a.completion->sent < *b.completion->sent : a.pair < b.pair;
  });
  int position = 0;
  for (TrialRecord& trial : trials) {
    trial.position = position++;
    trial.id = position;
  }
}

}  // namespace

void Complete(RecordedRuns& runs) {
  std::map<int, const TrialRecord*> baselines;
  for (TrialRecord& trial : runs.trials) {
    trial.objections = experiment::ObjectTo(trial, runs.spec.workload, nullptr);
    if (trial.baseline) baselines[trial.pair] = &trial;
  }
  std::map<std::string, int> valid;
  for (const auto& variant : runs.spec.variants) valid[variant.label] = 0;
  for (TrialRecord& trial : runs.trials) {
    const auto baseline = baselines.find(trial.pair);
    if (!trial.baseline && baseline != baselines.end()) {
      for (auto& objection : experiment::ObjectToPair(runs.spec, *baseline->second, trial)) {
        trial.objections.push_back(std::move(objection));
      }
    }
    if (trial.valid()) ++valid[trial.variant];
  }
  const auto fewest = std::min_element(
      valid.begin(), valid.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  runs.spec.design.pairs = std::max(fewest->second, 1);
}

std::vector<VariantFolder> FindVariantFolders(const std::string& path) {
  std::vector<VariantFolder> folders;
  for (const std::string& name : sys::NamesIn(path).value_or(std::vector<std::string>())) {
    const std::string folder = (fs::path(path) / name).string();
    if (!RunFiles(folder).empty()) folders.push_back({name, folder});
  }
  return folders;
}

Result<RecordedRuns> ReadVariantFolders(const std::vector<VariantFolder>& folders) {
  RecordedRuns runs;
  for (const VariantFolder& folder : folders) {
    const auto files = RunFiles(folder.path);
    if (files.empty()) {
      return Fail(sys::IsThere(folder.path) ? ErrorCode::kMismatch : ErrorCode::kNotFound,
                  "holds no run", folder.path, "a run is a file untraced-N.json");
    }
    runs.spec.variants.push_back({.label = folder.label});
    for (int pair = 0; const std::string& file : files) {
      auto completion = ReadCompletionFile(file);
      if (!completion) return Fail(std::move(completion.error()));
      TrialRecord trial;
      trial.pair = pair++;
      trial.variant = folder.label;
      trial.baseline = &folder == &folders.front();
      trial.completion = *std::move(completion);
      runs.trials.push_back(std::move(trial));
    }
  }
  OrderByTime(runs.trials);
  auto& workload = runs.spec.workload;
  workload.prompt =
      MostCommon(runs.trials, [](const TrialRecord& trial) { return trial.completion->prompt; });
  workload.output =
      MostCommon(runs.trials, [](const TrialRecord& trial) { return trial.completion->generated; });
  Complete(runs);
  return runs;
}

}  // namespace culprit::store
