#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace culprit::analysis {

// Glob is a pattern for names: `*` stands for any characters, `|` separates alternatives, all
// else stands for itself, case included. The whole name must match.
//
// Matching a name of n bytes against a pattern of m takes n × m steps at worst and no recursion:
// names come from hostile files and may have 64 KB. (std::regex recurses once a character.)
class Glob {
 public:
  Glob() = default;
  explicit Glob(std::string_view pattern);

  [[nodiscard]] bool Matches(std::string_view name) const;
  [[nodiscard]] const std::string& pattern() const { return pattern_; }

 private:
  // The literal pieces between the stars of one alternative: "mul*_q" is {"mul", "_q"}. The
  // first and the last are anchored; without a star there is one piece.
  using Pieces = std::vector<std::string>;

  std::string pattern_;
  std::vector<Pieces> alternatives_;
};

}  // namespace culprit::analysis
