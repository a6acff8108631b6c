#include "base/pattern.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/printable.h"

namespace culprit::base {

Result<Pattern> Pattern::Compile(const std::string& text) {
  constexpr std::size_t kLongest = 10'000;
  if (text.size() > kLongest) {
    return Fail(ErrorCode::kUsage, fmt::format("a regular expression of {} bytes: {} are the most",
                                               text.size(), kLongest));
  }
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(std::int64_t{1} << 20);  // of the program, and again of what it remembers
  auto compiled = std::make_shared<const RE2>(text, options);
  if (compiled->ok()) return Pattern(std::move(compiled));
  return Fail(ErrorCode::kUsage,
              fmt::format("\"{}\" is no regular expression: {}", Shortened(Printable(text), 100),
                          Shortened(Printable(compiled->error()), 200)));
}

bool Pattern::IsIn(std::string_view text) const {
  return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *compiled_);
}

}  // namespace culprit::base
