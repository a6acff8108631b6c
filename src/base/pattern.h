#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace re2 {
class RE2;
}

namespace culprit::base {

// Pattern is a regular expression in the syntax of RE2: Perl's, without look-ahead and without
// references back. Whatever it is, it takes at most some 10 MB, and time in proportion to the text.
// Source: doc/decisions/0015-patterns-are-re2.md.
class Pattern {
 public:
  // Compile fails with kUsage, saying what is wrong with it.
  static Result<Pattern> Compile(const std::string& text);
  // IsIn tells whether it matches anywhere in a text, which may be any bytes.
  [[nodiscard]] bool IsIn(std::string_view text) const;

 private:
  explicit Pattern(std::shared_ptr<const re2::RE2> compiled) : compiled_(std::move(compiled)) {}
  std::shared_ptr<const re2::RE2> compiled_;
};

}  // namespace culprit::base
