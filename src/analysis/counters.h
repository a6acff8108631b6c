#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/rules.h"
#include "base/diagnostics.h"
#include "base/units.h"
#include "trace/counter_set.h"

namespace culprit::analysis {

// Tally is what was counted of some launches: of one kernel, or of a category. largest has of each
// resource the most that a launch took. counters are keyed by name.
struct Tally {
  std::int64_t launches = 0;
  trace::Resources largest = {};
  std::map<std::string, trace::CounterSum> counters = {};

  // Add takes over launches of another kernel, AddPass what another pass counted of the same ones.
  void Add(const Tally& other);
  void AddPass(const Tally& other);
};

// TalliedKernel is a kernel launched with one size of workgroup. identity is what pairs it with the
// same work of another variant (Class::identity); names are hostile until printed.
struct TalliedKernel {
  std::string category, identity;
  std::optional<std::uint32_t> workgroup;  // work-items; absent when not told
  std::string short_name, full_name;
  Tally tally;
};

// Counted is all that was counted of one variant, in any number of passes: as many runs of the same
// request. Launches are those of one run; where passes disagree, the most.
//
// Like trace::CounterSet it has no times. counters are in the order in which passes have them;
// kernels are sorted by category, identity and workgroup. tokens are those of the window; absent
// when whole runs were counted.
struct Counted {
  std::string label;
  std::vector<std::string> counters;
  std::vector<TalliedKernel> kernels;
  std::optional<base::Tokens> tokens = {};
  std::vector<std::int64_t> launches_of_passes = {};
  std::map<std::string, std::int64_t> launches_of_counter = {};  // of the passes that have it
  std::int64_t outside = 0;  // launches outside the window, of the pass that has the most
  base::Diagnostics diagnostics = {};
};

// CountVariant puts the passes of one variant together, at least one. Categories come from names
// and launch shapes alone: what depends on a kernel's place in the pass stays with its general
// category.
Counted CountVariant(std::string label, std::span<const trace::CounterSet> passes,
                     std::optional<base::Tokens> tokens, const RuleSet& rules);

// CounterRow is a category, or a kernel of the one above it, on both sides; null on the side that
// never launched it, and b also where only one variant was counted.
struct CounterRow {
  std::string name;       // of the category, or short name of the kernel
  std::string full_name;  // of the kernel; "" for a category
  std::optional<std::uint32_t> workgroup;
  std::optional<Tally> a, b;
  [[nodiscard]] bool is_category() const { return full_name.empty(); }
};

// CounterRows lists categories with the most launches first, each followed by its kernels in the
// same order; launches of A count first. b may be null. B against A has the same rows as A against
// B, and each launch is in one kernel and in one category.
std::vector<CounterRow> CounterRows(const Counted& a, const Counted* b);

// Change is the share by which b is more than a; absent without both, or where a is 0.
std::optional<base::Fraction> Change(std::optional<double> a, std::optional<double> b);

}  // namespace culprit::analysis
