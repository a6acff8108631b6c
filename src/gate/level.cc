#include "gate/level.h"

#include <fmt/format.h>

#include "base/parse_number.h"
#include "base/printable.h"

namespace culprit::gate {
namespace {

using base::ErrorCode;
using base::Fail;
using base::Result;
using Of = Bound::Of;

// Whatever else a level asks for: a token that the baseline may well choose can't be ruled out. A
// cosine is over the tokens that both hold possible, and a perplexity is a mean.
constexpr Bound kNothingOmitted{Of::kWorst, Metric::kOmitted, 0.01};
constexpr Bound kNothingMoved{Of::kWorst, Metric::kTotalVariation, 0.1};

base::Error NoLevel(std::string_view text, std::string_view why) {
  return {ErrorCode::kUsage, fmt::format("{} {}", base::Printable(text), why), "--gate",
          "it is default, strict, cosine=0.99, kl=0.05 or ppl=0.01"};
}

}  // namespace

Level DefaultLevel() {
  return {.name = "default",
          .bounds = {{Of::kP99, Metric::kKl, 0.05},
                     {Of::kP99, Metric::kTotalVariation, 0.05},
                     {Of::kWorst, Metric::kKl, 0.2},
                     {Of::kWorst, Metric::kReverseKl, 0.2},
                     kNothingMoved,
                     kNothingOmitted,
                     {Of::kWorst, Metric::kAdded, 0.01},
                     {Of::kWorst, Metric::kFlipGap, kTieBand}}};
}

Result<Level> ParseLevel(std::string_view text) {
  if (text == "default") return DefaultLevel();
  Level level{.name = std::string(text)};
  if (text == "strict") {
    level.strict = true;
    return level;
  }
  const auto equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  if (equals == std::string_view::npos || (name != "cosine" && name != "kl" && name != "ppl")) {
    return Fail(NoLevel(text, "is no level"));
  }
  const auto value = base::ParseNumber<double>(text.substr(equals + 1));
  const double most = name == "cosine" ? 1 : 100;
  if (!value || !(*value >= 0 && *value <= most)) {
    return Fail(NoLevel(text, fmt::format("has no number from 0 to {}", most)));
  }
  if (name == "cosine") level.bounds = {{Of::kWorst, Metric::kCosine, *value}, kNothingOmitted};
  if (name == "kl") {
    level.bounds = {{Of::kWorst, Metric::kKl, *value}};
    level.infinite_counts = true;
  }
  if (name == "ppl") {
    level.bounds = {kNothingMoved, kNothingOmitted};
    level.perplexity = base::Fraction(*value);
  }
  return level;
}

}  // namespace culprit::gate
