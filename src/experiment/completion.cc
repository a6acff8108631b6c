#include "experiment/completion.h"

namespace culprit::experiment {

using base::Count;
using base::PerStep;
using base::PerToken;
using base::Steps;
using base::Tokens;

std::optional<Tokens> ServerTimings::decoded() const {
  if (Count(predicted) < 2) return std::nullopt;
  return Tokens(Count(predicted) - 1);
}

std::optional<Steps> ServerTimings::steps() const {
  if (!decoded()) return std::nullopt;
  const std::int64_t saved = draft ? Count(draft->accepted) : 0;
  if (saved < 0 || saved >= Count(*decoded())) return std::nullopt;
  return Steps(Count(*decoded()) - saved);
}

std::optional<PerToken> ServerTimings::per_token() const {
  if (!decoded()) return std::nullopt;
  return PerToken(predicted_time / static_cast<double>(Count(*decoded())));
}

std::optional<PerStep> ServerTimings::per_step() const {
  if (!steps()) return std::nullopt;
  return PerStep(predicted_time / static_cast<double>(Count(*steps())));
}

std::optional<base::Fraction> Completion::acceptance() const {
  if (!timings || !timings->draft || Count(timings->draft->drafted) <= 0) return std::nullopt;
  return base::Fraction(static_cast<double>(Count(timings->draft->accepted)) /
                        static_cast<double>(Count(timings->draft->drafted)));
}

std::optional<PerToken> Completion::streamed_per_token() const {
  if (arrivals.size() < 2 || Count(generated) < 2) return std::nullopt;
  return (arrivals.back() - arrivals.front()) / Tokens(Count(generated) - 1);
}

}  // namespace culprit::experiment
