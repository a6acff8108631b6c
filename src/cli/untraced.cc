#include "cli/untraced.h"

#include <fmt/format.h>

#include <optional>

namespace culprit::cli {
namespace {

using analysis::Phase;
using base::ErrorCode;
using base::NanosF;
using base::Tokens;

// Untraced is what a run without a profiler says of a phase.
struct Untraced {
  Tokens tokens;
  NanosF time;
};

// UntracedOf is absent when the server timed nothing of the phase.
std::optional<Untraced> UntracedOf(const UntracedRun& run, Phase phase) {
  if (!run.timings) return std::nullopt;
  const auto& timings = *run.timings;
  const auto tokens = phase == Phase::kDecode ? timings.decoded() : std::optional(timings.prompt);
  const NanosF time = phase == Phase::kDecode ? timings.predicted_time : timings.prompt_time;
  if (!tokens || Count(*tokens) < 1 || time <= NanosF(0)) return std::nullopt;
  return Untraced{*tokens, time};
}

// Misfit says why a run without a profiler is none of the request that was traced.
std::optional<base::Error> Misfit(const UntracedRun& run, const std::optional<Untraced>& untraced,
                                  const analysis::Analysis& traced) {
  const auto misfit = [&](std::string why) {
    return base::Error{ErrorCode::kMismatch, std::move(why), run.name,
                       "measure without a profiler at the length of the trace"};
  };
  if (!untraced) return misfit("holds no server timings");
  if (untraced->tokens != traced.tokens) {
    return misfit(fmt::format("was measured over {} tokens, the trace over {}",
                              Count(untraced->tokens), Count(traced.tokens)));
  }
  const auto& prompt = traced.found.prompt;
  if (prompt && Count(run.prompt) > 0 && run.prompt != *prompt) {
    return misfit(fmt::format("was measured after a prompt of {} tokens, the trace after {}",
                              Count(run.prompt), Count(*prompt)));
  }
  return std::nullopt;
}

}  // namespace

base::Status AddUntracedRuns(std::span<const UntracedRun> runs, bool named,
                             analysis::Variant& variant) {
  std::optional<base::Error> last;
  for (const UntracedRun& run : runs) {
    const auto untraced = UntracedOf(run, variant.analysis.found.window.phase);
    if (auto misfit = Misfit(run, untraced, variant.analysis)) {
      if (named) return base::Fail(*std::move(misfit));
      variant.warnings.push_back("left out: " + misfit->Text());
      last = std::move(misfit);
      continue;
    }
    variant.untraced.emplace_back(untraced->time / static_cast<double>(Count(untraced->tokens)));
  }
  if (variant.untraced.empty() && last) return base::Fail(*std::move(last));
  return {};
}

}  // namespace culprit::cli
