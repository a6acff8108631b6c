#include "cli/compare_traces.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "cli/run_report.h"
#include "experiment/evaluation.h"
#include "experiment/words.h"
#include "report/compare_report.h"

namespace culprit::cli {
namespace {

using analysis::Variant;
using base::ErrorCode;
using base::Fail;
using base::Result;
using experiment::TrialRecord;

// TellApart numbers labels that occur again: "results", "results #2".
void TellApart(std::vector<Variant>& variants) {
  std::map<std::string, int> seen;
  for (Variant& variant : variants) {
    const int number = ++seen[variant.label];
    if (number > 1) variant.label += fmt::format(" #{}", number);
  }
}

// CheckAll refuses what must not be compared. Sides must fit each other even for a look. Returns
// whether it is one.
Result<bool> CheckAll(const std::vector<Variant>& variants, bool look) {
  bool incomplete = false;
  for (const Variant& variant : variants) {
    if (auto fits = analysis::Comparable(variants.front(), variant); !fits) {
      return Fail(std::move(fits.error()));
    }
    if (variant.analysis.proof.complete()) continue;
    if (!look) {
      return Fail(ErrorCode::kIncomplete,
                  "no attribution, because the completeness proof fails: " +
                      variant.analysis.proof.reason(),
                  variant.label, "--incomplete prints the tables all the same");
    }
    incomplete = true;
  }
  return incomplete;
}

// The last valid trace of an arm; null without one.
const TrialRecord* TraceOf(const store::RunDirectory& run, std::size_t arm) {
  const TrialRecord* found = nullptr;
  for (const TrialRecord& trial : run.traces()) {
    if (trial.valid() && trial.trace && experiment::ArmOf(run.spec(), trial) == arm) found = &trial;
  }
  return found;
}

Result<Variant> LoadArm(const store::RunDirectory& run, std::size_t arm, const TrialRecord& traced,
                        const AnalysisOptions& options, const analysis::RuleSet& rules) {
  std::vector<UntracedRun> untraced;
  for (const auto* trial : experiment::CountedTrials(run.spec(), run.trials(), arm)) {
    untraced.emplace_back(run.FolderOf(*trial), *trial->completion);
  }
  auto variant = LoadTraced(traced, run.FilesOf(traced), untraced, options, rules);
  if (variant) variant->label = experiment::LabelOf(run.spec(), arm);
  return variant;
}

}  // namespace

Result<report::Report> CompareVariants(std::vector<Variant> variants,
                                       const AnalysisOptions& options, bool judged) {
  TellApart(variants);
  const auto incomplete = CheckAll(variants, options.incomplete);
  if (!incomplete) return Fail(incomplete.error());
  std::vector<analysis::Attribution> attributions;
  for (std::size_t i = 1; i < variants.size(); ++i) {
    attributions.push_back(analysis::Attribute(variants.front(), variants[i]));
  }
  return report::CompareReport(
      variants, attributions,
      {.kernels = options.kernels, .incomplete = *incomplete, .judged = judged});
}

Result<report::Report> CompareTraces(const store::RunDirectory& run, const AnalysisOptions& options,
                                     bool judged) {
  if (options.phase == "prefill" && run.spec().workload.cache_prompt) {
    return Fail(ErrorCode::kUsage, "its requests have no prefill: the prompt was kept", run.path());
  }
  if (experiment::ArmCount(run.spec()) < 2) {
    return Fail(ErrorCode::kUsage, "the run has one variant, and nothing to compare it with",
                run.path(), "culprit analyze tells where the time of its trace went");
  }
  auto rules = LoadRules(options.rules_file);
  if (!rules) return Fail(std::move(rules.error()));
  std::vector<Variant> variants;
  for (std::size_t arm = 0; arm < experiment::ArmCount(run.spec()); ++arm) {
    const TrialRecord* traced = TraceOf(run, arm);
    if (traced == nullptr) {
      if (arm == 0) break;
      continue;
    }
    auto variant = LoadArm(run, arm, *traced, options, *rules);
    if (!variant) return Fail(std::move(variant.error()));
    variants.push_back(*std::move(variant));
  }
  if (variants.size() < 2) {
    return Fail(
        ErrorCode::kIncomplete,
        variants.empty() ? "the baseline has no trace" : "no candidate has a trace", run.path(),
        fmt::format("culprit trace --resume {} takes them", experiment::AsWord(run.path())));
  }
  return CompareVariants(std::move(variants), options, judged);
}

}  // namespace culprit::cli
