#include "analysis/launch_groups.h"

#include <algorithm>
#include <unordered_map>

#include "base/check.h"

namespace culprit::analysis {

LaunchGroups GroupLaunches(const trace::Trace& trace, std::size_t first, std::size_t last) {
  CULPRIT_CHECK(first <= last && last <= trace.size());
  LaunchGroups result;
  result.of.reserve(last - first);
  // A kernel is launched in few shapes during decode, so the groups of each kernel are a short
  // list with the one used last in front. Prefill has more shapes; they are found by hash.
  constexpr std::size_t kShortList = 8;
  std::vector<std::vector<GroupId>> recent(trace.kernels.size());
  std::unordered_map<std::uint64_t, GroupId> known;
  for (std::size_t i = first; i < last; ++i) {
    const trace::KernelId kernel = trace.kernel[i];
    const trace::GeometryId geometry = trace.geometry[i];
    auto& list = recent[kernel.index()];
    auto at = std::find_if(list.begin(), list.end(), [&](GroupId id) {
      return result.groups[id.index()].geometry == geometry;
    });
    if (at == list.end()) {
      const std::uint64_t key = std::uint64_t{kernel.index()} << 32 | geometry.index();
      const auto [it, fresh] = known.try_emplace(key, GroupId(result.groups.size()));
      if (fresh) result.groups.push_back({kernel, geometry});
      if (list.size() == kShortList) list.pop_back();
      list.insert(list.begin(), it->second);
      at = list.begin();
    }
    std::iter_swap(list.begin(), at);
    const GroupId id = list.front();
    ++result.groups[id.index()].launches;
    result.of.push_back(id);
  }
  return result;
}

}  // namespace culprit::analysis
