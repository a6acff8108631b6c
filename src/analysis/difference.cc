#include "analysis/difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/check.h"
#include "base/number_format.h"

namespace culprit::analysis {
namespace {

using base::Count;
using base::ErrorCode;
using base::Fail;
using base::Nanos;

// Merged adds up the classes of one identity: template arguments need not be the same in both.
std::map<std::pair<std::string, std::string>, KernelCost> Merged(const Rollup& rollup) {
  std::map<std::pair<std::string, std::string>, KernelCost> merged;
  for (const KernelCost& kernel : rollup.kernels) {
    const auto [it, fresh] = merged.try_emplace({kernel.category, kernel.identity}, kernel);
    if (!fresh) it->second += kernel;
  }
  return merged;
}

Rollup Subtract(const Rollup& longer, const Rollup& shorter) {
  Rollup rest;
  rest.wall = longer.wall - shorter.wall;
  rest.idle = longer.idle - shorter.idle;
  auto kernels = Merged(longer);
  for (const auto& [key, kernel] : Merged(shorter)) {
    const auto [it, only_shorter] = kernels.try_emplace(key, kernel);
    if (only_shorter) static_cast<Cost&>(it->second) = {};
    it->second -= kernel;
  }
  for (auto& [key, cost] : kernels) {
    cost.per_step.clear();
    if (cost.launches != 0 || cost.exclusive != Nanos(0)) rest.kernels.push_back(std::move(cost));
  }
  CULPRIT_CHECK(rest.total().exclusive + rest.idle == rest.wall);
  return rest;
}

ProofItem SameWorkPerToken(const Rollup& rest, std::int64_t more) {
  std::int64_t launches = 0;
  bool whole = true;
  std::string_view odd;
  for (const KernelCost& kernel : rest.kernels) {
    launches += kernel.launches;
    if (kernel.launches % more == 0 && kernel.launches >= 0) continue;
    if (whole) odd = kernel.identity;
    whole = false;
  }
  return {"dispatches_per_token",
          whole ? fmt::format("{} dispatches for each of {} tokens", launches / more, more)
                : fmt::format("{} dispatches left over are not the same for each of {} tokens, {} "
                              "for one",
                              launches, more, odd),
          whole};
}

}  // namespace

base::Result<Analysis> AnalyzeDifference(const Analysis& longer, const Analysis& shorter,
                                         base::Tokens more) {
  if (Count(more) < 1) {
    return Fail(ErrorCode::kUsage, "the longer trace must have generated more tokens", longer.path);
  }
  if (longer.rollup.exclusive() <= shorter.rollup.exclusive()) {
    return Fail(ErrorCode::kMismatch, "is not busier than the trace to subtract", longer.path,
                "the two must be the same request with different output lengths");
  }
  Analysis rest = longer;
  rest.rollup = Subtract(longer.rollup, shorter.rollup);
  rest.tokens = more;
  rest.steps.reset();
  rest.devices.clear();
  rest.found.window.method = WindowMethod::kLengthDifference;
  rest.found.window.tokens = more;
  rest.found.how = fmt::format("as what a run of {} more tokens adds", Count(more));
  rest.found.confidence = Confidence::kSingle;
  rest.found.checks = {"idle time includes the difference of two starts of the server"};
  rest.diagnostics.Merge(shorter.diagnostics);

  rest.proof.items = {{"conservation",
                       fmt::format("Σ exclusive + idle = difference of the traces: {} + {} = {} ns",
                                   base::Grouped(rest.rollup.exclusive().count()),
                                   base::Grouped(rest.rollup.idle.count()),
                                   base::Grouped(rest.rollup.wall.count())),
                       true},  // checked by Subtract
                      SameWorkPerToken(rest.rollup, Count(more))};
  for (const Analysis* side : {&longer, &shorter}) {
    for (const ProofItem& item : side->proof.items) {
      if (item.id == "records") rest.proof.items.push_back(item);
    }
  }
  return rest;
}

}  // namespace culprit::analysis
