#include "analysis/rules.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"

namespace culprit::analysis {

// Written by cmake from rules/*.toml: file name and content.
extern const std::vector<std::pair<std::string_view, std::string_view>> kShippedRules;

namespace {

// Longer names are hostile or so general that their beginning decides.
constexpr std::size_t kMaxMatched = 16384;

bool Holds(const Comparison& test, double count, std::optional<std::int64_t> vocab) {
  double value = static_cast<double>(test.value);
  if (test.vocab_divisor > 0) {
    if (!vocab || *vocab < 1) return false;
    const std::int64_t rounded_up = (*vocab - 1) / test.vocab_divisor + 1;
    value = static_cast<double>(rounded_up);
  }
  switch (test.op) {
    case Comparison::Op::kEqual:
      return count == value;
    case Comparison::Op::kNotEqual:
      return count != value;
    case Comparison::Op::kLess:
      return count < value;
    case Comparison::Op::kAtMost:
      return count <= value;
    case Comparison::Op::kMore:
      return count > value;
    case Comparison::Op::kAtLeast:
      return count >= value;
  }
  return false;
}

bool OneHolds(const std::vector<Comparison>& tests, double count,
              std::optional<std::int64_t> vocab) {
  if (tests.empty()) return true;
  return std::any_of(tests.begin(), tests.end(),
                     [&](const Comparison& test) { return Holds(test, count, vocab); });
}

bool AxesHold(const std::vector<Comparison> (&tests)[3], const trace::Dim3& counts,
              const Launch& launch) {
  const std::uint32_t count[3] = {counts.x, counts.y, counts.z};
  for (std::size_t i = 0; i < 3; ++i) {
    if (tests[i].empty()) continue;
    if (!launch.geometry.known() || !OneHolds(tests[i], count[i], launch.vocab)) return false;
  }
  return true;
}

}  // namespace

bool Condition::HoldsFor(const KernelName& kernel, std::string_view full_name,
                         trace::WorkKind work) const {
  if (kind.value_or(trace::WorkKind::kKernel) != work) return false;
  if (name && !name->Matches(std::string_view(kernel.base).substr(0, kMaxMatched))) return false;
  if (operation && !operation->Matches(kernel.operation)) return false;
  if (ggml_type && (kernel.type_name.empty() || !ggml_type->Matches(kernel.type_name)))
    return false;
  for (const auto& [index, glob] : arguments) {
    if (index >= kernel.arguments.size() || !glob.Matches(kernel.arguments[index])) return false;
  }
  return !full || full->Matches(full_name.substr(0, kMaxMatched));
}

bool Condition::HoldsFor(const Launch& launch) const {
  if (signs != 0 && (signs >> static_cast<unsigned>(launch.sign) & 1u) == 0) return false;
  if (!AxesHold(grid, launch.geometry.grid, launch)) return false;
  if (!AxesHold(block, launch.geometry.block, launch)) return false;
  return !launch.per_step || OneHolds(launches_per_step, *launch.per_step, launch.vocab);
}

bool Condition::HoldsIn(Place place, std::optional<PassKind> in) const {
  if (places != 0 && (places >> static_cast<unsigned>(place) & 1u) == 0) return false;
  return !pass || pass == in;
}

namespace {

void Append(RuleSet& front, RuleSet back) {
  std::move(back.rules.begin(), back.rules.end(), std::back_inserter(front.rules));
  std::move(back.marks.begin(), back.marks.end(), std::back_inserter(front.marks));
}

}  // namespace

const RuleSet& ShippedRules() {
  static const RuleSet kSet = [] {
    RuleSet all;
    for (const auto& [file, text] : kShippedRules) {
      auto set = ParseRules(file, text);
      CULPRIT_CHECK(set.has_value());  // RulesTest.EveryShippedFileParses says what is wrong
      Append(all, *std::move(set));
    }
    return all;
  }();
  return kSet;
}

RuleSet InFront(RuleSet users) {
  Append(users, ShippedRules());
  return users;
}

}  // namespace culprit::analysis
