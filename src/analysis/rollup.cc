#include "analysis/rollup.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/check.h"

namespace culprit::analysis {
namespace {

using base::Nanos;
using base::TraceTime;

// Under this a launch costs more than the work it starts (the first user's own threshold).
constexpr Nanos kLaunchBound = std::chrono::microseconds(5);

// StepEnd is where a step ends: in dispatches (one past its last) and in time.
struct StepEnd {
  std::size_t dispatch;
  TraceTime time;
};

// Each class has a time for each step: some 200 classes by some 1,000 steps in a real trace, and
// what a hostile one likes. 64 Mi of them are 512 MB.
constexpr std::size_t kMostTimes = std::size_t{1} << 26;

// StepEnds lists the ends of all steps; the last one ends with the window. Empty when the steps
// are unknown, or too many to keep a time of each class for each.
std::vector<StepEnd> StepEnds(const trace::Trace& trace, const Window& window, std::size_t classes,
                              const std::optional<Passes>& passes) {
  std::vector<StepEnd> ends;
  if (!passes || passes->passes.size() > kMostTimes / std::max<std::size_t>(classes, 1))
    return ends;
  TraceTime latest = window.begin;
  for (const Pass& pass : passes->passes) {
    if (pass.kind != PassKind::kTarget) continue;
    latest = std::clamp(trace.end[pass.last - 1], latest, window.end);
    ends.push_back({pass.last, latest});
  }
  if (!ends.empty()) ends.back() = {window.last, window.end};
  return ends;
}

// "mul_mat_vec_q<Q4_K, 1, true>"
std::string ShortName(const KernelName& name) {
  if (name.arguments.empty()) return name.base;
  std::string text = name.base + "<";
  for (const std::string& argument : name.arguments) {
    if (text.back() != '<') text += ", ";
    text += argument;
  }
  return text + ">";
}

Cost& Add(Cost& sum, const Cost& other, std::int64_t sign) {
  sum.exclusive += sign * other.exclusive;
  sum.summed += sign * other.summed;
  sum.launches += sign * other.launches;
  sum.short_exclusive += sign * other.short_exclusive;
  sum.short_launches += sign * other.short_launches;
  sum.per_step.resize(std::max(sum.per_step.size(), other.per_step.size()));
  for (std::size_t i = 0; i < other.per_step.size(); ++i) {
    sum.per_step[i] += sign * other.per_step[i];
  }
  return sum;
}

void CheckConservation(const Rollup& rollup, const std::vector<StepEnd>& ends,
                       const Window& window) {
  const Cost total = rollup.total();
  CULPRIT_CHECK(total.exclusive + rollup.idle == rollup.wall);
  TraceTime begin = window.begin;
  for (std::size_t step = 0; step < ends.size(); ++step) {
    const Nanos busy = total.per_step.empty() ? Nanos(0) : total.per_step[step];
    CULPRIT_CHECK(busy + rollup.idle_per_step[step] == ends[step].time - begin);
    begin = ends[step].time;
  }
}

}  // namespace

Cost& Cost::operator+=(const Cost& other) { return Add(*this, other, 1); }
Cost& Cost::operator-=(const Cost& other) { return Add(*this, other, -1); }

Cost Rollup::total() const {
  Cost sum;
  for (const KernelCost& kernel : kernels) sum += kernel;
  return sum;
}

std::vector<Category> ByCategory(const Rollup& rollup) {
  std::map<std::string, Category> by_name;
  for (const KernelCost& kernel : rollup.kernels) {
    Category& category = by_name[kernel.category];
    category.cost += kernel;
    category.kernels.push_back(&kernel);
  }
  std::vector<Category> categories;
  for (auto& [name, category] : by_name) {
    category.name = name;
    std::ranges::sort(category.kernels, [](const KernelCost* x, const KernelCost* y) {
      return std::tie(y->exclusive, x->short_name, x->role) <
             std::tie(x->exclusive, y->short_name, y->role);
    });
    categories.push_back(std::move(category));
  }
  std::ranges::stable_sort(categories, [](const Category& x, const Category& y) {
    return x.cost.exclusive > y.cost.exclusive;
  });
  return categories;
}

Rollup Roll(const trace::Trace& trace, const Window& window, const Ownership& ownership,
            const Classification& classes, const std::optional<Passes>& passes) {
  CULPRIT_CHECK(ownership.exclusive.size() == window.last - window.first);
  CULPRIT_CHECK(classes.of.size() == window.last - window.first);
  const std::vector<StepEnd> ends = StepEnds(trace, window, classes.classes.size(), passes);

  Rollup rollup;
  rollup.wall = window.length();
  rollup.idle = ownership.idle;
  rollup.steps = static_cast<std::int64_t>(ends.size());
  for (const Class& known : classes.classes) {
    KernelCost cost;
    cost.category = known.category;
    cost.identity = known.identity;
    cost.role = known.role;
    cost.classified = known.rule.has_value();
    cost.per_step.resize(ends.size());
    rollup.kernels.push_back(std::move(cost));
  }

  std::vector<Nanos> busy_per_step(ends.size());
  std::size_t step = 0;
  for (std::size_t i = window.first; i < window.last; ++i) {
    while (step < ends.size() && i >= ends[step].dispatch) ++step;
    const Nanos exclusive = ownership.exclusive[i - window.first];
    const Nanos duration = trace.end[i] - trace.start[i];
    KernelCost& cost = rollup.kernels[classes.of[i - window.first].index()];
    if (cost.name.empty()) {
      cost.name = trace.kernel_name(trace.kernel[i]);
      cost.short_name = ShortName(classes.names[trace.kernel[i].index()]);
    }
    cost.exclusive += exclusive;
    if (step < ends.size()) {
      cost.per_step[step] += exclusive;
      busy_per_step[step] += exclusive;
    }
    if (duration < kLaunchBound) cost.short_exclusive += exclusive;
    if (trace.start[i] < window.begin) continue;
    cost.summed += duration;
    ++cost.launches;
    if (duration < kLaunchBound) ++cost.short_launches;
  }

  TraceTime begin = window.begin;
  for (std::size_t s = 0; s < ends.size(); ++s) {
    rollup.idle_per_step.push_back(ends[s].time - begin - busy_per_step[s]);
    begin = ends[s].time;
  }
  std::erase_if(rollup.kernels, [](const KernelCost& cost) {
    return cost.launches == 0 && cost.exclusive == Nanos(0);
  });
  CheckConservation(rollup, ends, window);
  return rollup;
}

}  // namespace culprit::analysis
