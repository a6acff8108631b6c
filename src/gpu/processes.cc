#include "gpu/processes.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "gpu/attribute.h"
#include "sys/text_file.h"

namespace culprit::gpu {
namespace {

std::optional<pid_t> ToPid(std::int64_t number) {
  if (number < 0 || number > std::numeric_limits<pid_t>::max()) return std::nullopt;
  return static_cast<pid_t>(number);
}

base::Nanos FromTicks(std::int64_t ticks) {
  static const std::int64_t per_second = std::max<std::int64_t>(1, ::sysconf(_SC_CLK_TCK));
  return std::chrono::seconds(ticks / per_second) +
         base::Nanos(ticks % per_second * 1'000'000'000 / per_second);
}

std::vector<ProcessStat> AllProcesses(const std::string& proc) {
  std::vector<ProcessStat> all;
  for (const std::string& folder : NumberedEntries(proc, "")) {
    const auto text = sys::ReadText(folder + "/stat");
    if (!text) continue;
    if (auto stat = ParseProcessStat(*text)) all.push_back(*std::move(stat));
  }
  return all;
}

}  // namespace

// 4711 (llama (x) y) S 1 4711 4711 0 -1 4194304 102 0 0 0 250 50 0 0 20 0 17 0 1186664 …
//  1    2            3 4  5                                14 15                22
// The command may hold blanks and parentheses; it ends at the last one of the line.
std::optional<ProcessStat> ParseProcessStat(std::string_view line) {
  const auto open = line.find('(');
  const auto close = line.rfind(')');
  if (open == std::string_view::npos || open == 0 || close == std::string_view::npos) return {};
  if (close < open) return {};
  const auto own = ParseNumber(line.substr(0, open - 1));

  constexpr std::size_t kFirst = 4;  // the first number behind the state, field 4: the parent
  std::array<std::int64_t, 19> fields{};
  std::string_view rest = line.substr(close + 1);
  rest.remove_prefix(std::min<std::size_t>(rest.size(), 3));  // " S "
  for (std::int64_t& field : fields) {
    const auto end = rest.find_first_of(" \n");
    const auto number = ParseNumber(rest.substr(0, end));
    if (!number) return {};
    field = *number;
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  const auto pid = own ? ToPid(*own) : std::nullopt;
  const auto parent = ToPid(fields[4 - kFirst]);
  const auto group = ToPid(fields[5 - kFirst]);
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 4;
  const std::int64_t user = fields[14 - kFirst];
  const std::int64_t system = fields[15 - kFirst];
  if (!pid || !parent || !group || user < 0 || user > kMost || system < 0 || system > kMost) {
    return {};
  }
  return ProcessStat{*pid,          std::string(line.substr(open + 1, close - open - 1)),
                     *parent,       *group,
                     user + system, fields[22 - kFirst]};
}

std::optional<ProcessStat> ReadProcessStat(const std::string& proc, pid_t pid) {
  const auto text = sys::ReadText(proc + "/" + std::to_string(pid) + "/stat");
  return text ? ParseProcessStat(*text) : std::nullopt;
}

std::vector<Process> ForeignProcesses(const std::string& proc, std::span<const pid_t> pids,
                                      std::optional<pid_t> own_group) {
  std::vector<Process> foreign;
  for (const pid_t pid : pids) {
    auto stat = ReadProcessStat(proc, pid);
    if (stat && stat->group != own_group) foreign.push_back({pid, std::move(stat->command)});
  }
  return foreign;
}

void GroupCpu::FindMembers() {
  const std::vector<ProcessStat> all = AllProcesses(proc_);
  std::set<pid_t> found;
  // A child may have a smaller pid than its parent, so look until nobody is added.
  std::size_t before = 0;
  do {
    before = found.size();
    for (const ProcessStat& stat : all) {
      if (stat.group == group_ || found.contains(stat.parent)) found.insert(stat.pid);
    }
  } while (found.size() > before);
  for (const ProcessStat& stat : all) {
    if (!found.contains(stat.pid)) continue;
    const bool first_call = calls_ == 0;
    members_.try_emplace(stat.pid, Member{stat.start_ticks, first_call ? stat.cpu_ticks : 0});
  }
}

std::optional<base::Nanos> GroupCpu::Used() {
  // Reading the whole of /proc costs a few ms on a busy machine, so new members are looked for in
  // every fifth call only; a server starts its workers once.
  if (calls_ % 5 == 0) FindMembers();
  calls_ = calls_ % 5 + 1;
  for (auto it = members_.begin(); it != members_.end();) {
    const auto stat = ReadProcessStat(proc_, it->first);
    if (!stat || stat->start_ticks != it->second.start_ticks) {
      it = members_.erase(it);
      continue;
    }
    constexpr std::int64_t kMost = std::int64_t{1} << 39;  // 174 years, and still fits into Nanos
    const auto grown = std::max<std::int64_t>(0, stat->cpu_ticks - it->second.cpu_ticks);
    used_ticks_ = std::min(kMost, used_ticks_ + grown);
    it->second.cpu_ticks = stat->cpu_ticks;
    ++it;
  }
  if (members_.empty()) return std::nullopt;
  return FromTicks(used_ticks_);
}

}  // namespace culprit::gpu
