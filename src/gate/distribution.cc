#include "gate/distribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/number_format.h"

namespace culprit::gate {
namespace {

using Kind = Problem::Kind;

// What is wrong with a single token.
std::optional<Problem> CheckToken(const TokenLogprob& each,
                                  std::optional<std::int64_t> vocabulary) {
  if (std::isnan(each.logprob)) return Problem{Kind::kNotANumber, each.token, {}};
  if (each.logprob > kSumTolerance) return Problem{Kind::kAboveOne, each.token, each.logprob};
  if (each.token < 0 || (vocabulary && each.token >= *vocabulary)) {
    return Problem{Kind::kOutsideVocabulary, each.token, each.logprob};
  }
  return std::nullopt;
}

// Place puts the tokens from 0 to n - 1 in order, each once, which is what a whole vocabulary is: a
// quarter of the time of a sort. False, and nothing has changed, for any other list.
bool Place(std::vector<TokenLogprob>& listed) {
  std::vector<TokenLogprob> placed(listed.size(), {-1, 0});
  for (const TokenLogprob& each : listed) {
    const auto at = static_cast<std::size_t>(each.token);
    if (at >= placed.size() || placed[at].token == each.token) return false;
    placed[at] = each;
  }
  listed = std::move(placed);
  return true;
}

void SortByToken(std::vector<TokenLogprob>& listed) {
  if (Place(listed)) return;
  std::sort(listed.begin(), listed.end(),
            [](const auto& a, const auto& b) { return a.token < b.token; });
}

double Mass(std::span<const TokenLogprob> listed) {
  double mass = 0;
  for (const TokenLogprob& each : listed) {
    if (IsSupported(each.logprob)) mass += std::exp(each.logprob);
  }
  return mass;
}

}  // namespace

std::string Describe(const Problem& problem) {
  const std::string token = problem.token ? fmt::format("token {}", *problem.token) : "a token";
  const auto value = base::Exact(problem.value.value_or(0)).value_or("infinite");
  switch (problem.kind) {
    case Kind::kEmpty:
      return "it lists no token that is possible";
    case Kind::kNotANumber:
      return fmt::format("the log-probability of {} is no number", token);
    case Kind::kAboveOne:
      return fmt::format("the log-probability of {} is {}, a probability above 1", token, value);
    case Kind::kOutsideVocabulary:
      return fmt::format("{} is not in the vocabulary", token);
    case Kind::kDuplicate:
      return fmt::format("{} is listed twice", token);
    case Kind::kSum:
      return fmt::format("its probabilities add up to {}",
                         base::NearOne(problem.value.value_or(0)));
  }
  return "";
}

tl::expected<Distribution, Problem> Distribution::Make(std::vector<TokenLogprob> listed,
                                                       std::optional<std::int64_t> vocabulary) {
  for (const TokenLogprob& each : listed) {
    if (auto problem = CheckToken(each, vocabulary)) return tl::unexpected(*problem);
  }
  SortByToken(listed);
  const auto twice =
      std::adjacent_find(listed.begin(), listed.end(),
                         [](const auto& a, const auto& b) { return a.token == b.token; });
  if (twice != listed.end()) return tl::unexpected(Problem{Kind::kDuplicate, twice->token, {}});

  Distribution made;
  made.listed_ = std::move(listed);
  made.support_ = static_cast<std::size_t>(
      std::count_if(made.listed_.begin(), made.listed_.end(),
                    [](const TokenLogprob& each) { return IsSupported(each.logprob); }));
  if (made.support_ == 0) return tl::unexpected(Problem{Kind::kEmpty});
  const auto count = static_cast<std::int64_t>(made.listed_.size());
  made.full_ = count == vocabulary.value_or(std::int64_t{made.listed_.back().token} + 1);
  const double mass = Mass(made.listed_);
  const bool too_little = made.full_ && mass < 1 - kSumTolerance;
  if (too_little || mass > 1 + kSumTolerance) {
    return tl::unexpected(Problem{Kind::kSum, {}, mass});
  }
  if (made.full_) made.log_scale_ = -std::log(mass);
  if (!made.full_) made.tail_ = std::max(0.0, 1 - mass);
  return made;
}

std::optional<double> Distribution::Logprob(TokenId token) const {
  const auto found = std::lower_bound(
      listed_.begin(), listed_.end(), token,
      [](const TokenLogprob& each, TokenId wanted) { return each.token < wanted; });
  if (found == listed_.end() || found->token != token) return std::nullopt;
  if (!IsSupported(found->logprob)) return std::nullopt;
  return found->logprob + log_scale_;
}

}  // namespace culprit::gate
