#include "lab/control_groups.h"

#include <algorithm>
#include <string_view>

#include "base/parse_number.h"
#include "gpu/attribute.h"
#include "sys/text_file.h"

namespace culprit::lab {
namespace {

template <typename T>
void Lower(std::optional<T>& limit, T value) {
  limit = limit ? std::min(*limit, value) : value;
}

// cpu.max of version 2: "200000 100000", or "max 100000"
void ReadQuota(const std::string& folder, ControlGroupLimits& limits) {
  std::optional<std::int64_t> quota, period;
  if (const auto both = gpu::ReadAttribute(folder + "/cpu.max")) {
    const auto blank = both->find(' ');
    if (blank == std::string::npos) return;
    quota = base::ParseNumber(both->substr(0, blank));
    period = base::ParseNumber(both->substr(blank + 1));
  } else {  // version 1; no limit is a quota of -1
    quota = gpu::ReadNumber(folder + "/cpu.cfs_quota_us");
    period = gpu::ReadNumber(folder + "/cpu.cfs_period_us");
  }
  if (!quota || !period || *quota <= 0 || *period <= 0) return;
  Lower(limits.processors, static_cast<double>(*quota) / static_cast<double>(*period));
}

void ReadMemory(const std::string& folder, ControlGroupLimits& limits) {
  auto bytes = gpu::ReadNumber(folder + "/memory.max");  // "max" is no number
  if (!bytes) bytes = gpu::ReadNumber(folder + "/memory.limit_in_bytes");
  constexpr std::int64_t kNone = std::int64_t{1} << 60;  // version 1 has no word for it
  if (bytes && *bytes > 0 && *bytes < kNone) {
    Lower(limits.memory_bytes, static_cast<std::uint64_t>(*bytes));
  }
}

}  // namespace

// 4:memory:/docker/947871fe63d8          version 1: its controllers
// 0::/user.slice/user-1000.slice         version 2: none
ControlGroupLimits ReadControlGroups(const std::string& root) {
  ControlGroupLimits limits;
  const auto groups = sys::ReadText(root + "/proc/self/cgroup");
  std::string_view text = groups ? std::string_view(*groups) : std::string_view();
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos) continue;
    const std::string controllers(line.substr(first + 1, second - first - 1));
    std::string top = root + "/sys/fs/cgroup";
    if (!controllers.empty()) top.append("/").append(controllers);
    std::string path(line.substr(second + 1));
    while (true) {
      if (path == "/") path.clear();
      ReadQuota(top + path, limits);
      ReadMemory(top + path, limits);
      if (path.empty()) break;
      path.resize(std::min(path.size() - 1, path.rfind('/')));
    }
  }
  return limits;
}

}  // namespace culprit::lab
