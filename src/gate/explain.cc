#include <fmt/format.h>

#include <cmath>

#include "base/number_format.h"
#include "gate/judge.h"

namespace culprit::gate {
namespace {

using base::Fraction;

std::string Answer(const GateResult& result, const std::string& baseline,
                   const std::string& candidate) {
  const Summary& summary = result.summary;
  switch (result.outcome) {
    case Outcome::kIdentical:
      return fmt::format(
          "{} answers exactly as {} does, the log-probabilities of all {} positions bit for bit "
          "the "
          "same: identical.",
          candidate, baseline, base::Grouped(static_cast<std::int64_t>(summary.positions)));
    case Outcome::kEquivalent:
      return fmt::format("{} answers as {} does within the bounds of the level {}: equivalent.",
                         candidate, baseline, result.level.name);
    case Outcome::kDiverged:
      return fmt::format("{} does not answer as {} does{}: diverged.", candidate, baseline,
                         result.at ? fmt::format(", from token {} on", *result.at + 1) : "");
    case Outcome::kBroken:
      return fmt::format("{} is broken: {}.",
                         result.side == Side::kCandidate ? candidate : baseline, result.text);
    case Outcome::kNotComparable:
      return fmt::format("{} cannot be compared with {}: {}.", candidate, baseline, result.text);
  }
  return "";
}

// "The omitted probability is 12.40 % at token 17 of 32, and may be 1.00 % at most."
std::string Describe(const Breach& breach, const Summary& summary) {
  const Metric metric = breach.bound.metric;
  const std::string limit = ValueText(metric, breach.limit);
  if (breach.bound.of == Bound::Of::kP99) {
    return fmt::format("The {} is {} {} at {} of {} positions, of which {} may, from token {} on.",
                       Name(metric), LessIsWorse(metric) ? "below" : "above", limit, breach.beyond,
                       summary.positions, breach.allowed, breach.position + 1);
  }
  std::string text = fmt::format("The {} is {} at token {} of {}, and may be {} at {}",
                                 Name(metric), ValueText(metric, breach.value), breach.worst_at + 1,
                                 summary.positions, limit, LessIsWorse(metric) ? "least" : "most");
  if (breach.position != breach.worst_at) {
    text += fmt::format("; token {} is the first beyond", breach.position + 1);
  }
  return text + ".";
}

std::string Describe(const Fork& fork) {
  const std::string at =
      fmt::format("Running freely, the two choose other tokens from token {} on", fork.at + 1);
  if (!fork.gap) return at + "; how close a choice that was is not known.";
  const auto gap = base::Significant(*fork.gap);
  if (*fork.gap <= kTieBand) {
    return fmt::format("{}: a near-tie, the two tokens are {} nats apart.", at, gap);
  }
  return fmt::format("{}, and it was no near-tie: the two tokens are {} nats apart, a near-tie {}.",
                     at, gap, base::Significant(kTieBand));
}

std::string Describe(const Loop& loop, const std::string& baseline, const std::string& candidate) {
  return fmt::format(
      "Running freely, {} goes in circles from token {} on, {} tokens {} times over, and {} does "
      "not.",
      candidate, loop.from + 1, loop.period, loop.times, baseline);
}

std::string DescribeCache(const Breach& breach, const std::string& candidate) {
  const Metric metric = breach.bound.metric;
  return fmt::format(
      "With its prefix cache {} answers otherwise than without: the {} between the two is {} at "
      "token {}, and may be {} at {}.",
      candidate, Name(metric), ValueText(metric, breach.value), breach.position + 1,
      ValueText(metric, breach.limit), LessIsWorse(metric) ? "least" : "most");
}

std::string Describe(const Perplexity& perplexity, const std::string& baseline,
                     const std::string& candidate) {
  return fmt::format("The perplexity of the text is {} to {} and {} to {}.",
                     base::Significant(perplexity.candidate), candidate,
                     base::Significant(perplexity.baseline), baseline);
}

std::string Likeness(const Summary& summary) {
  const auto& kl = summary.of(Metric::kKl);
  const auto& moved = summary.of(Metric::kTotalVariation);
  return fmt::format(
      "KL divergence {} at the median and {} at the worst position, token {} of {}; total "
      "variation "
      "at most {}; another likeliest token at {} of them.",
      ValueText(Metric::kKl, kl->median), ValueText(Metric::kKl, kl->worst), kl->at + 1,
      summary.positions, ValueText(Metric::kTotalVariation, moved->worst), summary.disagreements);
}

}  // namespace

std::string ValueText(Metric metric, double value) {
  switch (metric) {
    case Metric::kTotalVariation:
    case Metric::kOmitted:
    case Metric::kAdded:
    case Metric::kUnseen:
    case Metric::kRecall:
      return base::FinePercent(Fraction(value));
    case Metric::kCosine:
      return base::NearOne(value);
    case Metric::kRank:
      return base::Plain(value);
    default:
      return base::Significant(value) + (std::isfinite(value) ? " nats" : "");
  }
}

std::vector<std::string> Explain(const GateResult& result, const std::string& baseline,
                                 const std::string& candidate) {
  std::vector<std::string> sentences = {Answer(result, baseline, candidate)};
  for (const Breach& breach : result.breaches) {
    sentences.push_back(Describe(breach, result.summary));
  }
  if (!result.other_chat.empty()) {
    sentences.push_back(
        fmt::format("The two read a conversation otherwise: {}.", result.other_chat));
  }
  if (result.cache) sentences.push_back(DescribeCache(*result.cache, candidate));
  if (result.loop) sentences.push_back(Describe(*result.loop, baseline, candidate));
  const bool compared = result.outcome == Outcome::kEquivalent ||
                        result.outcome == Outcome::kDiverged || result.perplexity_out_of_bounds;
  if (compared && result.summary.positions > 0) sentences.push_back(Likeness(result.summary));
  if (compared && result.fork) sentences.push_back(Describe(*result.fork));
  if (compared && result.summary.perplexity) {
    sentences.push_back(Describe(*result.summary.perplexity, baseline, candidate));
  }
  return sentences;
}

}  // namespace culprit::gate
