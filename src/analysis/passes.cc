#include "analysis/passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>

#include "base/printable.h"

namespace culprit::analysis {
namespace {

using base::Count;

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

// LargestJump returns the value below which the smaller of two well separated kinds of lengths
// lies: the upper side of the largest ratio between neighbours in sorted order, if it is at least
// min_ratio.
std::optional<std::size_t> LargestJump(std::vector<std::size_t> lengths, double min_ratio) {
  std::sort(lengths.begin(), lengths.end());
  std::optional<std::size_t> above;
  double best = min_ratio;
  for (std::size_t i = 1; i < lengths.size(); ++i) {
    const double ratio = static_cast<double>(lengths[i]) /
                         static_cast<double>(std::max<std::size_t>(1, lengths[i - 1]));
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

// Period is the number of dispatches after which launches repeat.
struct Period {
  std::size_t length;
  double match;  // share of dispatches that are followed by the same launch one period later
};

double MatchAt(const LaunchGroups& groups, std::size_t period) {
  const std::size_t compared = groups.of.size() - period;
  std::size_t same = 0;
  for (std::size_t i = 0; i < compared; ++i) same += groups.of[i] == groups.of[i + period];
  return static_cast<double>(same) / static_cast<double>(compared);
}

// FindPeriod tries the spacings of the launches of each group. Layers repeat inside a step, so a
// spacing of one layer matches well too: only the step itself matches best.
std::optional<Period> FindPeriod(const LaunchGroups& groups) {
  constexpr std::size_t kMaxCandidates = 64;
  constexpr double kGood = 0.9;
  std::vector<std::size_t> previous(groups.groups.size(), SIZE_MAX);
  std::map<std::size_t, std::size_t> spacings;
  for (std::size_t i = 0; i < groups.of.size(); ++i) {
    std::size_t& before = previous[groups.of[i].index()];
    if (before != SIZE_MAX) ++spacings[i - before];
    before = i;
  }
  std::vector<std::pair<std::size_t, std::size_t>> common(spacings.begin(), spacings.end());
  std::erase_if(common, [&](const auto& s) {
    return s.second < 2 || s.first < 2 || s.first > groups.of.size() / 2;
  });
  std::sort(common.begin(), common.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  if (common.size() > kMaxCandidates) common.resize(kMaxCandidates);
  std::sort(common.begin(), common.end());
  std::optional<Period> best;
  for (const auto& [length, times] : common) {
    const double match = MatchAt(groups, length);
    if (match >= kGood && (!best || match > best->match + 0.002)) best = Period{length, match};
  }
  return best;
}

// AnchorOfPeriod picks the group that is launched once a period, as late in it as possible: the
// one before the longest pause, where the sampled token goes to the host and back.
std::optional<GroupId> AnchorOfPeriod(const trace::Trace& trace, const Window& window,
                                      const LaunchGroups& groups, std::int64_t periods) {
  std::vector<base::Nanos> pause(groups.groups.size());
  for (std::size_t i = 0; i + 1 < groups.of.size(); ++i) {
    const std::size_t at = window.first + i;
    pause[groups.of[i].index()] += std::max(trace.start[at + 1] - trace.end[at], base::Nanos(0));
  }
  std::optional<GroupId> anchor;
  for (std::size_t g = 0; g < groups.groups.size(); ++g) {
    if (std::abs(groups.groups[g].launches - periods) > 1) continue;
    if (!anchor || pause[g] > pause[anchor->index()]) anchor = GroupId(g);
  }
  return anchor;
}

std::string Describe(const trace::Trace& trace, const LaunchGroup& group) {
  const auto& geometry = trace.geometries[group.geometry.index()];
  std::string_view name = trace.kernel_name(group.kernel);
  name = name.substr(0, name.find('('));
  const std::string shown = base::Shortened(base::Printable(name), 60);
  if (!geometry.known()) return shown;
  return fmt::format("{} over {} x {} x {} blocks", shown, geometry.grid.x, geometry.grid.y,
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

}  // namespace

std::int64_t Passes::count(PassKind kind) const {
  return std::count_if(passes.begin(), passes.end(),
                       [&](const Pass& pass) { return pass.kind == kind; });
}

bool IsOutputHead(const trace::Trace& trace, const LaunchGroup& group,
                  std::optional<std::int64_t> vocabulary) {
  constexpr std::uint32_t kManyRows = 32768;
  constexpr std::array<std::string_view, 6> kProducts = {"mul_mat", "gemv",   "gemm",
                                                         "Cijk_",   "matmul", "wvSplitK"};
  const auto& geometry = trace.geometries[group.geometry.index()];
  const std::string_view name = trace.kernel_name(group.kernel);
  const bool product = std::any_of(kProducts.begin(), kProducts.end(), [&](std::string_view word) {
    return name.find(word) != std::string_view::npos;
  });
  if (!product || !geometry.known()) return false;
  if (!vocabulary) return geometry.grid.x >= kManyRows;
  for (const std::int64_t rows_per_block : {1, 2, 4, 8, 16}) {
    if (geometry.grid.x == (*vocabulary + rows_per_block - 1) / rows_per_block) return true;
  }
  return false;
}

std::optional<Passes> FindPasses(const trace::Trace& trace, const Window& window,
                                 const LaunchGroups& groups, const PassHints& hints) {
  std::vector<char> is_head(groups.groups.size(), 0);
  for (std::size_t g = 0; g < groups.groups.size(); ++g) {
    is_head[g] = IsOutputHead(trace, groups.groups[g], hints.vocabulary) ? 1 : 0;
  }
  if (const Anchors heads = LaunchesOf(window, groups, is_head); !heads.empty()) {
    Passes passes = CutAt(heads, window, groups, hints);
    passes.anchor = DescribeTargetAnchor(trace, window, groups, passes);
    return passes;
  }
  std::int64_t periods = 0;
  if (const auto period = FindPeriod(groups)) {
    periods =
        std::llround(static_cast<double>(groups.of.size()) / static_cast<double>(period->length));
  } else if (hints.steps) {
    periods = Count(*hints.steps);
  }
  if (periods < 2) return std::nullopt;
  const auto anchor = AnchorOfPeriod(trace, window, groups, periods);
  if (!anchor) return std::nullopt;
  std::vector<char> wanted(groups.groups.size(), 0);
  wanted[anchor->index()] = 1;
  Passes passes = CutAt(LaunchesOf(window, groups, wanted), window, groups, {});
  passes.method = PassMethod::kPeriod;
  passes.anchor = Describe(trace, groups.groups[anchor->index()]);
  return passes;
}

}  // namespace culprit::analysis
