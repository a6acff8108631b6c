#include "analysis/analyze.h"

#include <algorithm>

#include "analysis/launch_groups.h"
#include "analysis/ownership.h"
#include "base/number_format.h"

namespace culprit::analysis {
namespace {

using base::Count;
using base::ErrorCode;
using base::Fail;
using base::Finding;
using base::Nanos;
using base::Result;

// A summed time more than 1 % over the exclusive one would mislead.
constexpr double kSummedMayExceed = 0.01;

// Cut is a window with its launches and passes.
struct Cut {
  FoundWindow found;
  LaunchGroups groups;
  std::optional<Passes> passes;
};

std::optional<Passes> PassesOf(const trace::Trace& trace, const FoundWindow& found,
                               const LaunchGroups& groups, const WindowQuery& query) {
  if (found.window.phase != Phase::kDecode) return std::nullopt;
  return FindPasses(trace, found.window, groups,
                    {.vocabulary = query.vocabulary, .speculative = Speculates(query)});
}

Result<Cut> CutOut(const trace::Trace& trace, const WindowQuery& query) {
  auto found = FindWindow(trace, query);
  if (!found) return Fail(std::move(found.error()));
  const Window& window = found->window;
  LaunchGroups groups = GroupLaunches(trace, window.first, window.last);
  auto passes = PassesOf(trace, *found, groups, query);
  const bool other_steps =
      passes && found->implied_steps && *found->implied_steps != passes->steps();
  if (other_steps && window.method == WindowMethod::kClientTimes && !query.tokens_came_late) {
    WindowQuery late = query;
    late.tokens_came_late = true;
    return CutOut(trace, late);
  }
  return Cut{*std::move(found), std::move(groups), std::move(passes)};
}

// A device is busy while one of its dispatches runs. They are sorted by start, so it is enough to
// remember how far each device is covered.
std::vector<DeviceTime> DeviceTimes(const trace::Trace& trace, const Window& window) {
  std::vector<base::TraceTime> covered(trace.devices.size(), window.begin);
  std::vector<Nanos> busy(trace.devices.size());
  for (std::size_t i = window.first; i < window.last; ++i) {
    const std::size_t device = trace.lanes[trace.lane[i].index()].device.index();
    const base::TraceTime begin = std::max(trace.start[i], covered[device]);
    const base::TraceTime end = std::min(trace.end[i], window.end);
    if (end <= begin) continue;
    busy[device] += end - begin;
    covered[device] = end;
  }
  std::vector<DeviceTime> devices;
  for (std::size_t d = 0; d < busy.size(); ++d) {
    if (busy[d] == Nanos(0)) continue;
    devices.push_back({trace.devices[d].name, busy[d], window.length() - busy[d]});
  }
  return devices;
}

void AddHostCalls(const trace::Trace& trace, const Window& window, Analysis& analysis) {
  Nanos longest{};
  for (const trace::HostCall& call : trace.host_calls) {
    const Nanos inside = std::min(call.end, window.end) - std::max(call.start, window.begin);
    if (inside <= Nanos(0)) continue;
    analysis.host_call_time += inside;
    if (inside <= longest) continue;
    longest = inside;
    analysis.longest_host_call = trace.strings.Get(call.name);
  }
}

void AddFindings(const Rollup& rollup, base::Diagnostics& diagnostics) {
  const auto exclusive = static_cast<double>(rollup.exclusive().count());
  const auto summed = static_cast<double>(rollup.total().summed.count());
  if (summed > exclusive * (1 + kSummedMayExceed)) {
    const auto blamed = std::max_element(rollup.kernels.begin(), rollup.kernels.end(),
                                         [](const KernelCost& x, const KernelCost& y) {
                                           return x.summed - x.exclusive < y.summed - y.exclusive;
                                         });
    diagnostics.Add(Finding::kSummedExceedsExclusive, 1, blamed->identity);
  }
  std::int64_t unclassified = 0;
  std::string_view example;
  for (const KernelCost& kernel : rollup.kernels) {
    if (kernel.classified) continue;
    if (unclassified++ == 0) example = kernel.name;
  }
  diagnostics.Add(Finding::kUnclassified, unclassified, example);
}

// TokensOf falls back to the steps seen, one token each; the proof then fails for want of a count.
base::Tokens TokensOf(const FoundWindow& found, const std::optional<Passes>& passes) {
  if (found.window.tokens && Count(*found.window.tokens) > 0) return *found.window.tokens;
  if (passes && Count(passes->steps()) > 0) return base::Tokens(Count(passes->steps()));
  return base::Tokens(1);
}

}  // namespace

double Analysis::steps_per_token() const {
  return static_cast<double>(rollup.steps) / static_cast<double>(Count(tokens));
}

Result<Analysis> Analyze(const trace::Trace& trace, const WindowQuery& query, const RuleSet& rules,
                         By by) {
  const bool layers = std::any_of(trace.layer.begin(), trace.layer.end(),
                                  [](trace::Layer layer) { return layer.has_value(); });
  if (by == By::kLayer && !layers) {
    return Fail(ErrorCode::kUsage, "the trace does not tell the layers of the model", trace.path,
                "one that a run with --collector ggml-ops takes does");
  }
  auto cut = CutOut(trace, query);
  if (!cut) return Fail(std::move(cut.error()));
  const auto& [found, groups, passes] = *cut;
  const Window& window = found.window;
  if (groups.of.empty()) {
    const auto& info = base::Describe(Finding::kEmptyWindow);
    return Fail(ErrorCode::kNoWindow, std::string(info.what), trace.path, std::string(info.advice));
  }
  const Ownership ownership = Own(trace, window);
  Classification classes = Classify(trace, window, groups, passes, query.vocabulary, rules);
  if (by == By::kLayer) classes = ByLayer(trace, window, classes);

  Analysis analysis{trace.path, trace.format, found, base::Tokens(1), by};
  analysis.tokens = TokensOf(analysis.found, passes);
  analysis.rollup = Roll(trace, analysis.found.window, ownership, classes, passes);
  if (passes) {
    analysis.steps = {passes->steps(), passes->count(PassKind::kDraft), passes->method,
                      passes->anchor};
  }
  analysis.devices = DeviceTimes(trace, analysis.found.window);
  analysis.dispatches = trace.size();
  AddHostCalls(trace, analysis.found.window, analysis);
  analysis.proof = ProveComplete({trace, analysis.found, groups, passes, analysis.rollup});
  analysis.diagnostics = trace.diagnostics;
  analysis.diagnostics.Merge(analysis.found.diagnostics);
  AddFindings(analysis.rollup, analysis.diagnostics);
  return analysis;
}

}  // namespace culprit::analysis
