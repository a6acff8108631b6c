#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/attribute.h"
#include "analysis/rules.h"
#include "base/result.h"
#include "cli/untraced.h"
#include "experiment/trial_record.h"
#include "store/trial_folder.h"
#include "trace/reader.h"

namespace culprit::cli {

// AnalysisOptions are what analyze and compare have in common.
struct AnalysisOptions {
  std::string phase = "decode", by = "category";
  std::size_t request = 1;  // counted from 1, as people do
  std::string request_file, log_file;
  std::optional<double> from_ms, to_ms;
  std::optional<std::int64_t> tokens, vocabulary, process;
  bool whole = false, full_check = false, incomplete = false;
  std::string rules_file;
  std::size_t kernels = 3;
};
void AddAnalysisOptions(CLI::App& command, AnalysisOptions& options);

// VariantArgument is one side of a comparison as written on the command line:
// `[label=]PATH[:MS_PER_TOKEN]`, where the last part is the untraced time, a number or the JSON
// of an untraced run. Without a label the name of the folder or file serves.
struct VariantArgument {
  std::string label, path;
  std::optional<double> untraced_ms;
  std::optional<std::string> untraced_file;
  bool with_untraced = true;  // analyze has no use for untraced times
};
// ParseVariant never fails: what is no label and no time is part of the path. A path that exists as
// written is taken whole.
VariantArgument ParseVariant(const std::string& argument);

// ReadWithProgress is trace::ReadTrace that tells on stderr how far it is.
base::Result<trace::Trace> ReadWithProgress(const std::string& path, trace::ReadOptions options);

// LoadRules returns the shipped rules, with the user's file in front when one is given.
base::Result<analysis::RuleSet> LoadRules(const std::string& file);

// LoadTraced reads a traced trial, and sets beside it what was measured without a profiler.
base::Result<analysis::Variant> LoadTraced(const experiment::TrialRecord& traced,
                                           const store::TrialFiles& files,
                                           std::span<const UntracedRun> untraced,
                                           const AnalysisOptions& options,
                                           const analysis::RuleSet& rules);

// LoadVariant reads a variant's trace, request, log and untraced runs, and analyses it.
//
// Runs of another output length than the trace's are left out with a warning when they lay in the
// folder, and refused (kMismatch) when they were named or when none is left; the first user lost
// a day to such a comparison.
base::Result<analysis::Variant> LoadVariant(const VariantArgument& argument,
                                            const AnalysisOptions& options,
                                            const analysis::RuleSet& rules);

// LoadDifference reads two traces of the same request with different output lengths and analyses
// what the longer one adds. The number of tokens is options.tokens or what the requests' data say.
base::Result<analysis::Variant> LoadDifference(const VariantArgument& longer,
                                               const VariantArgument& shorter,
                                               const AnalysisOptions& options,
                                               const analysis::RuleSet& rules);

}  // namespace culprit::cli
