#include "analysis/pass_shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "analysis/kernel_name.h"
#include "base/printable.h"

namespace culprit::analysis {
namespace {

std::size_t Length(const Pass& pass) { return pass.last - pass.first; }

// Launches counts the dispatches of a pass by group.
std::map<std::size_t, std::int64_t> Launches(const Window& window, const LaunchGroups& groups,
                                             const Pass& pass) {
  std::map<std::size_t, std::int64_t> counts;
  for (std::size_t i = pass.first; i < pass.last; ++i) {
    ++counts[groups.of[i - window.first].index()];
  }
  return counts;
}

// Extra names the kernel of which `pass` has more launches than `regular`, the largest surplus.
std::string Extra(const trace::Trace& trace, const Window& window, const LaunchGroups& groups,
                  const Pass& pass, const Pass& regular) {
  const auto usual = Launches(window, groups, regular);
  std::map<std::string_view, std::int64_t> surplus;
  for (const auto& [group, count] : Launches(window, groups, pass)) {
    surplus[trace.kernel_name(groups.groups[group].kernel)] += count;
  }
  for (const auto& [group, count] : usual) {
    surplus[trace.kernel_name(groups.groups[group].kernel)] -= count;
  }
  const auto most =
      std::max_element(surplus.begin(), surplus.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == surplus.end() || most->second <= 0) return "";
  return base::Shortened(base::Printable(ParseKernelName(most->first).Short()), 60);
}

struct KindReport {
  std::string sentence;
  bool explained = true;
};

// "558 dispatches in each of 511 target passes"
// "52 (566×) or 53 (189×) dispatches in 755 draft passes"
std::string CountSentence(const std::map<std::size_t, std::int64_t>& regular, std::size_t passes,
                          std::string_view name) {
  if (regular.size() == 1) {
    return fmt::format("{} dispatches in each of {} {}", regular.begin()->first,
                       regular.begin()->second, name);
  }
  std::string counts;
  for (const auto& [length, times] : regular) {
    counts += fmt::format("{}{} ({}×)", counts.empty() ? "" : " or ", length, times);
  }
  return fmt::format("{} dispatches in {} {}", counts, passes, name);
}

KindReport Describe(const trace::Trace& trace, const Window& window, const LaunchGroups& groups,
                    const std::vector<Pass>& passes, std::string_view name) {
  std::map<std::size_t, std::int64_t> lengths;
  for (const Pass& pass : passes) ++lengths[Length(pass)];
  // What happens once is no rule, unless there is nothing else to go by.
  const auto count = static_cast<std::int64_t>(passes.size());
  const std::int64_t few = std::max<std::int64_t>(count > 2 ? 2 : 1, count / 20);
  std::map<std::size_t, std::int64_t> regular;
  for (const auto& [length, times] : lengths) {
    if (times >= few) regular.emplace(length, times);
  }
  if (regular.empty()) {
    return {fmt::format("no two of {} {} launch the same", passes.size(), name), false};
  }
  const std::size_t smallest = regular.begin()->first;
  const Pass& usual = *std::find_if(passes.begin(), passes.end(),
                                    [&](const Pass& p) { return Length(p) == smallest; });
  KindReport report{CountSentence(regular, passes.size(), name)};
  std::int64_t shorter = 0;
  std::int64_t longer = 0;
  std::string extra;
  for (const Pass& pass : passes) {
    if (regular.contains(Length(pass))) continue;
    ++(Length(pass) < smallest ? shorter : longer);
    if (Length(pass) > smallest && extra.empty()) {
      extra = Extra(trace, window, groups, pass, usual);
    }
  }
  if (longer > 0) {
    report.sentence += fmt::format("; {} launch more{}", longer,
                                   extra.empty() ? "" : ", the first of them " + extra);
  }
  if (shorter > 0) {
    report.sentence += fmt::format("; {} launch fewer: records are missing", shorter);
    report.explained = false;
  }
  return report;
}

}  // namespace

PassShapes DescribeShapes(const trace::Trace& trace, const Window& window,
                          const LaunchGroups& groups, const Passes& passes) {
  std::vector<Pass> target;
  std::vector<Pass> draft;
  for (std::size_t i = 0; i < passes.passes.size(); ++i) {
    const Pass& pass = passes.passes[i];
    auto& kind = pass.kind == PassKind::kTarget ? target : draft;
    kind.push_back(pass);
  }
  const bool speculative = !draft.empty();
  // The window may begin inside the first pass; leave it out where it is shorter than the next.
  auto& first_kind =
      passes.passes.empty() || passes.passes.front().kind == PassKind::kTarget ? target : draft;
  const bool cut = first_kind.size() > 1 && Length(first_kind[0]) < Length(first_kind[1]);
  if (cut) first_kind.erase(first_kind.begin());
  if (target.empty()) return {"no step is complete", false};
  KindReport report =
      Describe(trace, window, groups, target, speculative ? "target passes" : "steps");
  if (speculative && !draft.empty()) {
    const KindReport more = Describe(trace, window, groups, draft, "draft passes");
    report.sentence += "; " + more.sentence;
    report.explained = report.explained && more.explained;
  }
  if (cut && report.explained) report.sentence += "; the window begins inside the first";
  return {report.sentence, report.explained};
}

}  // namespace culprit::analysis
