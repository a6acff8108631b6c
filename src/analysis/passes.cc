#include "analysis/passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "analysis/kernel_name.h"
#include "base/number_format.h"
#include "base/printable.h"

namespace culprit::analysis {
namespace {

// Anchors are the dispatches, as indices into the trace, that end a pass.
using Anchors = std::vector<std::size_t>;

Anchors LaunchesOf(const Window& window, const LaunchGroups& groups,
                   const std::vector<char>& wanted) {
  Anchors anchors;
  for (std::size_t i = 0; i < groups.of.size(); ++i) {
    if (wanted[groups.of[i].index()] != 0) anchors.push_back(window.first + i);
  }
  return anchors;
}

// LargestJump finds two well separated kinds of lengths: it returns the upper side of the largest
// ratio between neighbours in sorted order, if it is at least min_ratio and each side has at least
// one length in twenty. A lone long pass (the end of prefill) is no kind.
std::optional<std::size_t> LargestJump(std::vector<std::size_t> lengths, double min_ratio) {
  std::sort(lengths.begin(), lengths.end());
  const std::size_t least = std::max<std::size_t>(1, lengths.size() / 20);
  std::optional<std::size_t> above;
  double best = min_ratio;
  for (std::size_t i = least; i + least <= lengths.size(); ++i) {
    const double ratio = static_cast<double>(lengths[i]) / static_cast<double>(lengths[i - 1]);
    if (ratio < best) continue;
    best = ratio;
    above = lengths[i];
  }
  return above;
}

// A draft model, or a draft head of one layer, launches far fewer kernels a pass than its target.
// Two models of one size would need a factor below this; such a pair gains nothing in practice.
constexpr double kDraftRatio = 1.8;

Passes CutAt(const Anchors& anchors, const Window& window, const LaunchGroups& groups,
             const PassHints& hints) {
  Passes cut{{}, window.first, PassMethod::kOutputHead, {}};
  std::vector<std::size_t> lengths;
  for (const std::size_t anchor : anchors) {
    cut.passes.push_back({cut.tail_first, anchor + 1, PassKind::kTarget});
    lengths.push_back(anchor + 1 - cut.tail_first);
    cut.tail_first = anchor + 1;
  }
  // The first pass may be cut by the window's begin, and a single pass has nothing beside it.
  if (lengths.size() < 3) return cut;
  const std::size_t cut_length = lengths.front();
  lengths.erase(lengths.begin());
  const auto target_length = LargestJump(lengths, kDraftRatio);
  const bool two_heads = std::any_of(anchors.begin(), anchors.end(), [&](std::size_t anchor) {
    return groups.of[anchor - window.first] != groups.of[anchors.front() - window.first];
  });
  if (!target_length || !(hints.speculative || two_heads)) return cut;
  for (Pass& pass : cut.passes) {
    if (pass.last - pass.first < *target_length) pass.kind = PassKind::kDraft;
  }
  // A first pass that lost its front may look like a draft; its head tells what it was.
  const auto head_of = [&](const Pass& pass) { return groups.of[pass.last - 1 - window.first]; };
  if (cut_length < *target_length) {
    const GroupId head = head_of(cut.passes.front());
    const auto drafts_with_it = std::count_if(
        cut.passes.begin() + 1, cut.passes.end(),
        [&](const Pass& pass) { return pass.kind == PassKind::kDraft && head_of(pass) == head; });
    if (drafts_with_it == 0) cut.passes.front().kind = PassKind::kTarget;
  }
  return cut;
}

// A step holds at most this many launches of the group that marks it, so that a mark can be every
// second launch of a kernel whose launches cannot be told apart by shape.
constexpr std::size_t kMostPerStep = 8;

// RarestGroups are those that can mark steps: launched three times or more, the rarest first.
std::vector<GroupId> RarestGroups(const LaunchGroups& groups) {
  constexpr std::size_t kTried = 16;
  std::vector<GroupId> rarest;
  for (std::size_t g = 0; g < groups.groups.size(); ++g) {
    if (groups.groups[g].launches >= 3) rarest.emplace_back(g);
  }
  std::stable_sort(rarest.begin(), rarest.end(), [&](GroupId a, GroupId b) {
    return groups.groups[a.index()].launches < groups.groups[b.index()].launches;
  });
  if (rarest.size() > kTried) rarest.resize(kTried);
  return rarest;
}

// PlacesOf lists where in the window the launches of a group are.
std::vector<std::size_t> PlacesOf(const LaunchGroups& groups, GroupId group) {
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < groups.of.size(); ++i) {
    if (groups.of[i] == group) places.push_back(i);
  }
  return places;
}

// MatchAt is the share of dispatches that are followed by the same launch one period later, over
// the first of them: a period that holds there holds everywhere, or nowhere.
double MatchAt(const LaunchGroups& groups, std::size_t period) {
  constexpr std::size_t kEnough = 200'000;
  const std::size_t compared = std::min(groups.of.size() - period, kEnough);
  std::size_t same = 0;
  for (std::size_t i = 0; i < compared; ++i) same += groups.of[i] == groups.of[i + period];
  return static_cast<double>(same) / static_cast<double>(compared);
}

// CommonDistances are the most usual distances between launches of one group that are at most
// kMostPerStep launches apart.
std::vector<std::size_t> CommonDistances(const LaunchGroups& groups, GroupId group) {
  constexpr std::size_t kTried = 8;
  std::map<std::size_t, std::size_t> times;
  const auto places = PlacesOf(groups, group);
  for (std::size_t lag = 1; lag <= kMostPerStep; ++lag) {
    for (std::size_t i = lag; i < places.size(); ++i) ++times[places[i] - places[i - lag]];
  }
  std::vector<std::pair<std::size_t, std::size_t>> sorted;  // times, distance
  for (const auto& [distance, count] : times) {
    if (count >= 2 && distance >= 2 && distance <= groups.of.size() / 2) {
      sorted.emplace_back(count, distance);
    }
  }
  std::sort(sorted.rbegin(), sorted.rend());
  if (sorted.size() > kTried) sorted.resize(kTried);
  std::vector<std::size_t> distances;
  distances.reserve(sorted.size());
  for (const auto& [count, distance] : sorted) distances.push_back(distance);
  return distances;
}

// FindPeriod returns after how many dispatches the launches repeat. Layers repeat inside a step,
// so one layer matches well too: only the step itself matches best.
std::optional<std::size_t> FindPeriod(const LaunchGroups& groups) {
  constexpr double kGood = 0.9;
  constexpr double kBetter = 0.002;
  std::set<std::size_t> candidates;
  for (const GroupId group : RarestGroups(groups)) {
    for (const std::size_t distance : CommonDistances(groups, group)) candidates.insert(distance);
  }
  std::optional<std::size_t> best;
  double best_match = kGood - kBetter;
  for (const std::size_t distance : candidates) {  // shortest first: multiples match as well
    const double match = MatchAt(groups, distance);
    if (match < best_match + kBetter) continue;
    best = distance;
    best_match = match;
  }
  return best;
}

// PeriodMark is a launch that comes once a period.
struct PeriodMark {
  GroupId group;
  std::size_t every;  // every this many launches of the group
  Anchors anchors;
};

// MarkPeriods looks for the mark with the longest pause behind it: there the sampled token goes to
// the host and back, so the mark ends a step. A mark must keep the period nine times in ten.
std::optional<PeriodMark> MarkPeriods(const trace::Trace& trace, const Window& window,
                                      const LaunchGroups& groups, std::size_t period) {
  std::optional<PeriodMark> best;
  base::Nanos longest{-1};
  for (const GroupId group : RarestGroups(groups)) {
    const auto places = PlacesOf(groups, group);
    for (std::size_t every = 1; every <= kMostPerStep; ++every) {
      for (std::size_t phase = 0; phase < every; ++phase) {
        PeriodMark mark{group, every, {}};
        base::Nanos pause{};
        std::size_t kept = 0;
        for (std::size_t i = phase; i < places.size(); i += every) {
          const std::size_t at = window.first + places[i];
          kept += !mark.anchors.empty() && at - mark.anchors.back() == period;
          mark.anchors.push_back(at);
          if (at + 1 < window.last) {
            pause += std::max(trace.start[at + 1] - trace.end[at], base::Nanos(0));
          }
        }
        if (mark.anchors.size() < 3 || kept * 10 < (mark.anchors.size() - 1) * 9) continue;
        if (pause <= longest) continue;
        longest = pause;
        best = std::move(mark);
      }
    }
  }
  return best;
}

std::string Describe(const trace::Trace& trace, const LaunchGroup& group) {
  const auto& geometry = trace.geometries[group.geometry.index()];
  std::string shown = base::Shortened(
      base::Printable(ParseKernelName(trace.kernel_name(group.kernel)).Short()), 60);
  if (!geometry.known()) return shown;
  if (geometry.grid.y == 1 && geometry.grid.z == 1) {
    return fmt::format("{} over {} blocks", shown, base::Grouped(geometry.grid.x));
  }
  return fmt::format("{} over {} × {} × {} blocks", shown, geometry.grid.x, geometry.grid.y,
                     geometry.grid.z);
}

std::string DescribeTargetAnchor(const trace::Trace& trace, const Window& window,
                                 const LaunchGroups& groups, const Passes& passes) {
  std::map<std::size_t, int> times;
  for (const Pass& pass : passes.passes) {
    if (pass.kind == PassKind::kTarget) ++times[groups.of[pass.last - 1 - window.first].index()];
  }
  const auto most = std::max_element(
      times.begin(), times.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == times.end() ? "" : Describe(trace, groups.groups[most->first]);
}

// A head has as many rows a block as its kernel likes: 1 for one token, 2 for several.
constexpr std::array<int, 5> kRowsPerBlock = {1, 2, 4, 8, 16};

// FindHeads marks the groups that are output heads. 32,768 words in blocks of 8 rows have the grid
// of a projection to 4,096: what is launched much more often than the surer heads is a layer's.
std::vector<char> FindHeads(const trace::Trace& trace, const LaunchGroups& groups,
                            std::optional<std::int64_t> vocabulary) {
  constexpr std::int64_t kMuchMore = 16;
  std::vector<char> is_head(groups.groups.size(), 0);
  std::int64_t surer = 0;  // launches of heads with fewer rows a block
  for (const int rows : kRowsPerBlock) {
    std::int64_t launches = 0;
    for (std::size_t g = 0; g < groups.groups.size(); ++g) {
      const LaunchGroup& group = groups.groups[g];
      if (RowsPerBlock(trace, group, vocabulary) != rows) continue;
      if (surer > 0 && group.launches > kMuchMore * surer) continue;
      is_head[g] = 1;
      launches += group.launches;
    }
    surer += launches;
  }
  return is_head;
}

}  // namespace

std::int64_t Passes::count(PassKind kind) const {
  return std::count_if(passes.begin(), passes.end(),
                       [&](const Pass& pass) { return pass.kind == kind; });
}

int RowsPerBlock(const trace::Trace& trace, const LaunchGroup& group,
                 std::optional<std::int64_t> vocabulary) {
  constexpr std::uint32_t kManyRows = 32768;
  constexpr std::string_view kHeadOp = "MUL_MAT<result_output,";  // a graph's op names its result
  constexpr std::array<std::string_view, 6> kProducts = {"mul_mat", "gemv",   "gemm",
                                                         "Cijk_",   "matmul", "wvSplitK"};
  const auto& geometry = trace.geometries[group.geometry.index()];
  const std::string_view name = trace.kernel_name(group.kernel);
  if (name.starts_with(kHeadOp)) return 1;
  const bool product = std::any_of(kProducts.begin(), kProducts.end(), [&](std::string_view word) {
    return name.find(word) != std::string_view::npos;
  });
  if (!product || !geometry.known()) return 0;
  if (!vocabulary) return geometry.grid.x >= kManyRows ? 1 : 0;
  if (*vocabulary < 1) return 0;
  for (const int rows : kRowsPerBlock) {
    if (geometry.grid.x == (*vocabulary - 1) / rows + 1) return rows;
  }
  return 0;
}

std::optional<Passes> FindPasses(const trace::Trace& trace, const Window& window,
                                 const LaunchGroups& groups, const PassHints& hints) {
  const auto heads = LaunchesOf(window, groups, FindHeads(trace, groups, hints.vocabulary));
  if (!heads.empty()) {
    Passes passes = CutAt(heads, window, groups, hints);
    passes.anchor = DescribeTargetAnchor(trace, window, groups, passes);
    return passes;
  }
  const auto period = FindPeriod(groups);
  if (!period) return std::nullopt;
  const auto mark = MarkPeriods(trace, window, groups, *period);
  if (!mark) return std::nullopt;
  Passes passes = CutAt(mark->anchors, window, groups, {});
  passes.method = PassMethod::kPeriod;
  passes.anchor = Describe(trace, groups.groups[mark->group.index()]);
  if (mark->every > 1)
    passes.anchor = fmt::format("one launch in {} of {}", mark->every, passes.anchor);
  return passes;
}

}  // namespace culprit::analysis
