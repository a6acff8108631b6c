#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/glob.h"
#include "analysis/kernel_name.h"
#include "analysis/passes.h"
#include "analysis/place.h"
#include "base/result.h"
#include "trace/trace.h"

namespace culprit::analysis {

// Comparison is a test of a count: `8`, `">= 32768"`, `"vocab"`, `"vocab/2"`.
struct Comparison {
  enum class Op : std::uint8_t { kEqual, kNotEqual, kLess, kAtMost, kMore, kAtLeast };
  Op op = Op::kEqual;
  std::int64_t value = 0;
  std::int64_t vocab_divisor = 0;  // > 0: the value is the vocabulary divided by this, rounded up
};

// Launch is what rules can know about a kernel's launches besides its name.
struct Launch {
  trace::Geometry geometry = {};
  std::optional<double> per_step = {};     // launches a step
  std::optional<std::int64_t> vocab = {};  // rows of the output head
  Sign sign = Sign::kNone;                 // what the marks say
};

// Condition is the left side of a rule: everything that is given must hold. Lists of comparisons
// hold when one of them does.
struct Condition {
  std::optional<Glob> name;       // of KernelName::base
  std::optional<Glob> operation;  // of KernelName::operation
  std::optional<Glob> full;       // of the whole name as the trace has it
  std::optional<Glob> ggml_type;  // of KernelName::type_name
  std::optional<trace::WorkKind> kind;
  std::vector<std::pair<std::size_t, Glob>> arguments;  // by position, from 0
  std::vector<Comparison> grid[3], block[3], launches_per_step;
  std::uint32_t signs = 0;   // bits by Sign; 0: any
  std::uint32_t places = 0;  // bits by Place; 0: any
  std::optional<PassKind> pass;

  [[nodiscard]] bool HoldsFor(const KernelName& kernel, std::string_view full_name,
                              trace::WorkKind work) const;
  // A test of an unknown grid, block or vocabulary fails; one of unknown launches a step holds,
  // because it narrows a rule that the rest has already picked.
  [[nodiscard]] bool HoldsFor(const Launch& launch) const;
  [[nodiscard]] bool HoldsIn(Place place, std::optional<PassKind> in) const;
  [[nodiscard]] bool depends_on_order() const { return places != 0 || pass.has_value(); }
};

// Rule gives a category to the kernels its condition holds for.
struct Rule {
  Condition when;
  std::string category;  // "{type}" stands for the ggml type, "float" where there is none
  std::string role;      // shown and used for pairing; empty: the place of a multiplication
  std::string why;
  std::string source;  // "10-ggml.toml:12"
};

// Mark gives a Sign to the kernels its condition holds for; it never tests signs, places or passes.
struct Mark {
  Condition when;
  Sign sign = Sign::kNone;
};

// RuleSet is what decides about categories. First match wins in both lists.
struct RuleSet {
  std::vector<Rule> rules;
  std::vector<Mark> marks;
};

// ParseRules reads one TOML file of [[rule]] and [[mark]] tables. Fails with kUsage, the place
// being file:line, on anything it does not know.
base::Result<RuleSet> ParseRules(std::string_view file, std::string_view text);

// ShippedRules are those under rules/, embedded in the program, in the order of their file names.
const RuleSet& ShippedRules();

// InFront returns the shipped rules with the user's before them.
RuleSet InFront(RuleSet users);

}  // namespace culprit::analysis
