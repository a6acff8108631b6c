#include "analysis/step_window.h"

#include <algorithm>
#include <vector>

#include "analysis/launch_groups.h"

namespace culprit::analysis {
namespace {

using base::Nanos;
using base::TraceTime;

// TargetEnds are the ends of the target passes in a stretch; nothing when no pass can be seen.
std::optional<std::vector<TraceTime>> TargetEnds(const trace::Trace& trace, Window around,
                                                 const PassHints& hints) {
  SetDispatchRange(trace, around);
  const LaunchGroups groups = GroupLaunches(trace, around.first, around.last);
  const auto passes = FindPasses(trace, around, groups, hints);
  if (!passes) return std::nullopt;
  std::vector<TraceTime> ends;
  for (const Pass& pass : passes->passes) {
    if (pass.kind == PassKind::kTarget) ends.push_back(trace.end[pass.last - 1]);
  }
  return ends;
}

}  // namespace

Nanos Slack(Nanos decode) { return std::max<Nanos>(decode / 20, std::chrono::milliseconds(20)); }

std::optional<Window> MoveOntoSteps(const trace::Trace& trace, const Window& laid,
                                    base::Steps steps, const PassHints& hints) {
  const Nanos slack = Slack(laid.length());
  Window around = laid;
  around.begin -= slack;
  around.end += slack;
  const auto ends = TargetEnds(trace, around, hints);
  if (!ends) return std::nullopt;
  const auto count = static_cast<std::size_t>(base::Count(steps));
  Window best = laid;
  best.end = best.begin;
  // Decode begins when the pass before its first step has ended and its token is sampled: the
  // right place is where that many steps take the time that the server measured.
  Nanos closest = laid.length() / static_cast<Nanos::rep>(count);
  for (std::size_t last = count; last < ends->size(); ++last) {
    const TraceTime end = (*ends)[last];
    const Nanos off = std::chrono::abs(end - (*ends)[last - count] - laid.length());
    if (off >= closest || std::chrono::abs(end - laid.end) > slack) continue;
    closest = off;
    best.begin = end - laid.length();
    best.end = end;
  }
  return best;
}

std::optional<MovedBack> MoveBackOntoSteps(const trace::Trace& trace, const Window& arrivals,
                                           base::Steps steps, const PassHints& hints) {
  const Nanos slack = Slack(arrivals.length());
  Window around = arrivals;
  around.begin -= slack;
  const auto ends = TargetEnds(trace, around, hints);
  const auto count = static_cast<std::size_t>(base::Count(steps));
  if (!ends || ends->size() <= count) return std::nullopt;
  // A pass that touches the window may end after it.
  const auto after = std::upper_bound(ends->begin(), ends->end(), arrivals.end);
  const auto ended = static_cast<std::size_t>(after - ends->begin());
  if (ended <= count) return std::nullopt;
  Window moved = arrivals;
  moved.begin = (*ends)[ended - 1 - count];
  moved.end = (*ends)[ended - 1];
  const bool late = moved.begin <= arrivals.begin && arrivals.begin - moved.begin <= slack &&
                    arrivals.end - moved.end <= slack;
  if (!late) return std::nullopt;
  const auto before = std::upper_bound(ends->begin(), ends->end(), arrivals.begin);
  const auto made_before = static_cast<std::size_t>(before - ends->begin());
  return MovedBack{moved, made_before - (ended - count)};
}

}  // namespace culprit::analysis
