#include "cli/percentage.h"

#include <charconv>
#include <string_view>

namespace culprit::cli {

base::Result<base::Fraction> ParsePercentage(const std::string& text, const std::string& option) {
  double percent = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, percent);
  const std::string_view sign(rest, static_cast<std::size_t>(end - rest));
  const bool read = error == std::errc() && (sign == "%" || sign == " %");
  if (!read || !(percent > 0 && percent <= 100)) {
    return base::Fail(base::ErrorCode::kUsage, "not a percentage above 0 and up to 100: " + text,
                      option, "write it like 0.5%");
  }
  return base::Fraction(percent / 100);
}

}  // namespace culprit::cli
