#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>

#include "analysis/attribute.h"
#include "base/result.h"
#include "experiment/completion.h"

namespace culprit::cli {

// UntracedRun is a request that was measured without a profiler. name is its file or trial, for
// messages.
struct UntracedRun {
  UntracedRun(std::string from, const experiment::Completion& run)
      : name(std::move(from)), prompt(run.prompt), timings(run.timings) {}

  std::string name;
  base::Tokens prompt;
  std::optional<experiment::ServerTimings> timings;
};

// AddUntracedRuns adds what runs without a profiler cost to a variant whose trace was analysed.
//
// Runs of another output length or prompt than the trace's are left out with a warning, and refused
// (kMismatch) when they were named or when none is left.
base::Status AddUntracedRuns(std::span<const UntracedRun> runs, bool named,
                             analysis::Variant& variant);

}  // namespace culprit::cli
