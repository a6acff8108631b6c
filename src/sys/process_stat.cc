#include "sys/process_stat.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/parse_number.h"
#include "sys/folder.h"
#include "sys/text_file.h"

namespace culprit::sys {
namespace {

using base::Nanos;
using base::ParseNumber;

// A quarter of what Nanos holds: two of them can be added.
constexpr auto kLongest = std::chrono::floor<std::chrono::seconds>(Nanos::max() / 4);

Nanos FromTicks(std::int64_t ticks) {
  static const std::int64_t per_second = std::max<std::int64_t>(1, ::sysconf(_SC_CLK_TCK));
  const std::chrono::seconds whole(ticks / per_second);
  if (whole >= kLongest) return kLongest;
  return whole + Nanos(ticks % per_second * 1'000'000'000 / per_second);
}

bool IsPid(std::int64_t number) {
  return number >= 0 && number <= std::numeric_limits<pid_t>::max();
}

}  // namespace

// 4711 (llama (x) y) S 1 4711 4711 0 -1 4194304 102 0 0 0 250 50 0 0 20 0 17 0 1186664 …
//  1    2            3 4  5    6                          14  15               22
// The command may hold blanks and parentheses; it ends at the last one of the line.
std::optional<ProcessStat> ParseProcessStat(std::string_view line) {
  const auto open = line.find('(');
  const auto close = line.rfind(") ");
  if (open == std::string_view::npos || open == 0 || close == std::string_view::npos) return {};
  if (close < open || line.size() < close + 4) return {};
  const auto pid = ParseNumber<pid_t>(line.substr(0, open - 1));
  if (!pid || *pid < 0) return {};

  std::array<std::int64_t, 23> field{};  // by its number, from the parent on
  std::string_view rest = line.substr(close + 4);
  for (std::size_t i = 4; i < field.size(); ++i) {
    const auto end = std::min(rest.find_first_of(" \n"), rest.size());
    const auto number = ParseNumber(rest.substr(0, end));
    if (!number) return {};
    field[i] = *number;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  const std::int64_t user = field[14], system = field[15], started = field[22];
  if (!IsPid(field[4]) || !IsPid(field[5]) || !IsPid(field[6]) || started < 0) return {};
  if (user < 0 || system < 0) return {};
  return ProcessStat{.identity = {*pid, static_cast<std::uint64_t>(started)},
                     .command = std::string(line.substr(open + 1, close - open - 1)),
                     .state = line[close + 2],
                     .parent = static_cast<pid_t>(field[4]),
                     .group = static_cast<pid_t>(field[5]),
                     .session = static_cast<pid_t>(field[6]),
                     .cpu = std::min<Nanos>(kLongest, FromTicks(user) + FromTicks(system))};
}

std::optional<ProcessStat> ReadProcessStat(pid_t pid, const std::string& proc) {
  const auto text = ReadText(proc + "/" + std::to_string(pid) + "/stat");
  return text ? ParseProcessStat(*text) : std::nullopt;
}

std::vector<ProcessStat> AllProcesses(const std::string& proc) {
  std::vector<ProcessStat> all;
  const auto names = NamesIn(proc);
  if (!names) return all;
  for (const std::string& name : *names) {
    const auto pid = ParseNumber<pid_t>(name);
    auto stat = pid ? ReadProcessStat(*pid, proc) : std::nullopt;
    if (stat) all.push_back(*std::move(stat));
  }
  return all;
}

std::optional<ProcessIdentity> Identify(pid_t pid) {
  const auto stat = ReadProcessStat(pid);
  if (!stat || stat->IsDead()) return std::nullopt;
  return stat->identity;
}

bool IsAlive(const ProcessIdentity& process) { return Identify(process.pid) == process; }

}  // namespace culprit::sys
