#include "analysis/counters.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "analysis/classify.h"
#include "base/check.h"

namespace culprit::analysis {
namespace {

// What tells kernels apart: category, identity, work-items of a workgroup.
using Key = std::tuple<std::string, std::string, std::optional<std::uint32_t>>;

Key KeyOf(const TalliedKernel& kernel) {
  return {kernel.category, kernel.identity, kernel.workgroup};
}

// Sizes are 32 bits each; no device has a workgroup of more than 1024.
std::optional<std::uint32_t> WorkgroupOf(const trace::Geometry& geometry) {
  if (!geometry.known()) return std::nullopt;
  const trace::Dim3& block = geometry.block;
  std::uint64_t product = block.x;
  for (const std::uint32_t size : {block.y, block.z}) {
    if (product > UINT32_MAX / size) return std::nullopt;
    product *= size;
  }
  return static_cast<std::uint32_t>(product);
}

Tally TallyOf(const trace::CounterSet& set, const trace::CountedKernel& kernel) {
  Tally tally{.launches = kernel.launches, .largest = kernel.resources};
  for (const auto& [id, sum] : kernel.counters) {
    tally.counters[std::string(set.strings.Get(set.counters[id.index()]))].Add(sum);
  }
  return tally;
}

TalliedKernel Classified(const trace::CounterSet& set, const trace::CountedKernel& kernel,
                         const RuleSet& rules) {
  const std::string full_name(set.strings.Get(kernel.name));
  auto launch = ClassifyLaunch(full_name, {.geometry = kernel.geometry}, rules);
  std::string name = launch.name.Short();
  if (!launch.role.empty()) name += " · " + launch.role;
  return {std::move(launch.category),
          std::move(launch.identity),
          WorkgroupOf(kernel.geometry),
          std::move(name),
          full_name,
          TallyOf(set, kernel)};
}

// The kernels of one pass: several shapes, and builds of a template, are one kernel.
std::map<Key, TalliedKernel> KernelsOf(const trace::CounterSet& set, const RuleSet& rules) {
  std::map<Key, TalliedKernel> kernels;
  for (const trace::CountedKernel& counted : set.kernels) {
    TalliedKernel kernel = Classified(set, counted, rules);
    const auto [known, fresh] = kernels.try_emplace(KeyOf(kernel), kernel);
    if (!fresh) known->second.tally.Add(kernel.tally);
  }
  return kernels;
}

// Side is one variant's kernels for a list of rows.
using Side = std::map<Key, const TalliedKernel*>;

Side SideOf(const Counted* counted) {
  Side side;
  if (counted == nullptr) return side;
  for (const TalliedKernel& kernel : counted->kernels) side.emplace(KeyOf(kernel), &kernel);
  return side;
}

const TalliedKernel* Find(const Side& side, const Key& key) {
  const auto found = side.find(key);
  return found == side.end() ? nullptr : found->second;
}

std::optional<Tally> TallyOf(const TalliedKernel* kernel) {
  return kernel == nullptr ? std::nullopt : std::optional(kernel->tally);
}

std::int64_t LaunchesOf(const std::optional<Tally>& tally) { return tally ? tally->launches : 0; }

void SortByLaunches(std::vector<CounterRow>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const CounterRow& one, const CounterRow& other) {
    return std::pair(LaunchesOf(one.a), LaunchesOf(one.b)) >
           std::pair(LaunchesOf(other.a), LaunchesOf(other.b));
  });
}

void AddTo(std::optional<Tally>& sum, const std::optional<Tally>& part) {
  if (!part) return;
  if (!sum) sum.emplace();
  sum->Add(*part);
}

// Categories in the order of their names, each with its kernels.
std::map<std::string, std::vector<CounterRow>> ByCategory(const Side& a, const Side& b) {
  std::map<std::string, std::vector<CounterRow>> categories;
  Side both = a;
  both.insert(b.begin(), b.end());
  for (const auto& [key, kernel] : both) {
    categories[kernel->category].push_back({kernel->short_name, kernel->full_name,
                                            kernel->workgroup, TallyOf(Find(a, key)),
                                            TallyOf(Find(b, key))});
  }
  return categories;
}

}  // namespace

void Tally::Add(const Tally& other) {
  launches += other.launches;
  largest.Raise(other.largest);
  for (const auto& [name, sum] : other.counters) counters[name].Add(sum);
}

void Tally::AddPass(const Tally& other) {
  const std::int64_t most = std::max(launches, other.launches);
  Add(other);
  launches = most;
}

Counted CountVariant(std::string label, std::span<const trace::CounterSet> passes,
                     std::optional<base::Tokens> tokens, const RuleSet& rules) {
  CULPRIT_CHECK(!passes.empty());
  Counted counted{.label = std::move(label), .counters = {}, .kernels = {}, .tokens = tokens};
  std::map<Key, TalliedKernel> kernels;
  for (const trace::CounterSet& pass : passes) {
    for (const base::StringId id : pass.counters) {
      std::string name(pass.strings.Get(id));
      const auto [known, fresh] = counted.launches_of_counter.try_emplace(name, 0);
      known->second += pass.launches;
      if (fresh) counted.counters.push_back(std::move(name));
    }
    for (auto& [key, kernel] : KernelsOf(pass, rules)) {
      const auto [known, fresh] = kernels.try_emplace(key, kernel);
      if (!fresh) known->second.tally.AddPass(kernel.tally);
    }
    counted.launches_of_passes.push_back(pass.launches);
    counted.outside = std::max(counted.outside, pass.outside);
    counted.diagnostics.Merge(pass.diagnostics);
  }
  for (auto& [key, kernel] : kernels) counted.kernels.push_back(std::move(kernel));
  return counted;
}

std::vector<CounterRow> CounterRows(const Counted& a, const Counted* b) {
  auto kernels = ByCategory(SideOf(&a), SideOf(b));
  std::vector<CounterRow> categories;
  for (const auto& [name, rows] : kernels) {
    CounterRow category{name, "", std::nullopt, std::nullopt, std::nullopt};
    for (const CounterRow& kernel : rows) {
      AddTo(category.a, kernel.a);
      AddTo(category.b, kernel.b);
    }
    categories.push_back(std::move(category));
  }
  SortByLaunches(categories);
  std::vector<CounterRow> rows;
  for (CounterRow& category : categories) {
    auto& below = kernels[category.name];
    SortByLaunches(below);
    rows.push_back(std::move(category));
    std::move(below.begin(), below.end(), std::back_inserter(rows));
  }
  return rows;
}

std::optional<base::Fraction> Change(std::optional<double> a, std::optional<double> b) {
  if (!a || !b || *a == 0) return std::nullopt;
  return base::Fraction((*b - *a) / *a);
}

}  // namespace culprit::analysis
