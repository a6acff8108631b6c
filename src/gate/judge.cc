#include "gate/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace culprit::gate {
namespace {

using Of = Bound::Of;

// All that can differ; where nothing does, the numbers are the same.
const std::vector<Bound>& Anything() {
  static const std::vector<Bound> bounds = {{Of::kWorst, Metric::kTotalVariation, 0},
                                            {Of::kWorst, Metric::kOmitted, 0},
                                            {Of::kWorst, Metric::kAdded, 0},
                                            {Of::kWorst, Metric::kMaxDelta, 0}};
  return bounds;
}

bool IsBeyond(double value, double limit, Metric metric) {
  return LessIsWorse(metric) ? value < limit : value > limit;
}

double ValueOfBound(const Spread& spread, Of of) {
  return of == Of::kWorst ? spread.worst : spread.p99;
}

// The limit, or what a side differs from itself by where that is more.
double WithNoise(const Bound& bound, const Evidence& evidence) {
  double limit = bound.limit;
  for (const auto* itself : {&evidence.baseline_itself, &evidence.candidate_itself}) {
    if (!*itself || !(*itself)->of(bound.metric)) continue;
    const double noise = ValueOfBound(*(*itself)->of(bound.metric), bound.of);
    if (std::isfinite(noise) && IsBeyond(noise, limit, bound.metric)) limit = noise;
  }
  return limit;
}

// Scale holds what a bound is checked against beside its limit.
struct Scale {
  const std::vector<Position>& positions;
  const Summary& summary;
  bool infinite_counts;
};

bool Counts(double value, Metric metric, bool infinite_counts) {
  const bool divergence = metric == Metric::kKl || metric == Metric::kReverseKl;
  return infinite_counts || !divergence || std::isfinite(value);
}

// What an infinite value would hide: the worst of the finite ones.
std::optional<Breach> FindBreach(const Bound& bound, double limit, const Scale& scale) {
  const auto& spread = scale.summary.of(bound.metric);
  if (!spread) return std::nullopt;
  if (bound.of == Of::kP99 && spread->positions < kFewPositions) return std::nullopt;
  std::optional<Breach> breach;
  for (std::size_t i = 0; i < scale.positions.size(); ++i) {
    const auto value = ValueOf(scale.positions[i], bound.metric);
    if (!value || !Counts(*value, bound.metric, scale.infinite_counts)) continue;
    if (!IsBeyond(*value, limit, bound.metric)) continue;
    if (!breach) breach = Breach{bound, limit, *value, i, i};
    ++breach->beyond;
    if (IsBeyond(*value, breach->value, bound.metric)) {
      breach->value = *value;
      breach->worst_at = i;
    }
  }
  if (bound.of == Of::kWorst || !breach) return breach;
  // As many as the worst percent may be beyond.
  const auto best = std::ceil(0.99 * static_cast<double>(spread->positions));
  breach->allowed = spread->positions - static_cast<std::size_t>(best);
  if (breach->beyond <= breach->allowed) return std::nullopt;
  return breach;
}

std::vector<Breach> FindBreaches(const std::vector<Bound>& bounds, const Evidence& evidence,
                                 const Scale& scale) {
  std::vector<Breach> breaches;
  for (const Bound& bound : bounds) {
    if (auto breach = FindBreach(bound, WithNoise(bound, evidence), scale)) {
      breaches.push_back(*breach);
    }
  }
  // What went wrong first is the first reason.
  std::stable_sort(breaches.begin(), breaches.end(), [](const Breach& one, const Breach& other) {
    return one.position < other.position;
  });
  return breaches;
}

// Why a side's difference from itself is too large for anything to be seen beside it; "" if it is
// not.
std::string TooNoisy(const Evidence& evidence) {
  const auto check = [](const std::optional<Summary>& itself, std::string_view side) {
    if (!itself) return std::string();
    for (const Bound& bound : DefaultLevel().bounds) {
      const auto& spread = itself->of(bound.metric);
      if (bound.of != Of::kWorst || !spread) continue;
      // What a token at the edge of a shortlist makes infinite is bounded by what it omits.
      if (!Counts(spread->worst, bound.metric, false)) continue;
      if (!IsBeyond(spread->worst, bound.limit, bound.metric)) continue;
      return fmt::format(
          "the {} does not give the same answer twice: at token {} it differs from itself by more "
          "than two variants may differ",
          side, spread->at + 1);
    }
    return std::string();
  };
  auto why = check(evidence.baseline_itself, "baseline");
  return why.empty() ? check(evidence.candidate_itself, "candidate") : why;
}

// The first position of which a predicate holds.
template <typename Predicate>
std::optional<std::size_t> FirstPosition(const std::vector<Position>& positions,
                                         const Predicate& holds) {
  const auto it = std::find_if(positions.begin(), positions.end(), holds);
  if (it == positions.end()) return std::nullopt;
  return static_cast<std::size_t>(it - positions.begin());
}

// What the servers do not list might be out of a bound; "" when it cannot. No bound on a divergence
// or a cosine holds for what is not listed, so that there as little may be unseen as omitted.
std::string TooLittleListed(const Evidence& evidence, const Level& level, const Summary& summary) {
  constexpr double kMostUnseen = 0.01;
  if (summary.partial == 0) return "";
  if (level.strict) return "strict needs the whole vocabulary, and a server lists its likeliest";
  const auto moved = std::find_if(level.bounds.begin(), level.bounds.end(), [](const Bound& bound) {
    return bound.metric == Metric::kTotalVariation && bound.of == Of::kWorst;
  });
  const auto at = FirstPosition(evidence.between.positions(), [&](const Position& position) {
    if (moved == level.bounds.end()) return position.unseen > kMostUnseen;
    return position.total_variation + position.unseen > moved->limit;
  });
  if (!at) return "";
  return fmt::format(
      "a server lists only its likeliest tokens, and what it does not list at token {} could be "
      "out "
      "of bounds",
      *at + 1);
}

// A level that asks for a number that a position does not have; "" when each has it.
std::string NothingToCompare(const Evidence& evidence, const Level& level) {
  for (const Bound& bound : level.bounds) {
    if (bound.metric != Metric::kCosine) continue;
    const auto at = FirstPosition(evidence.between.positions(),
                                  [](const Position& position) { return !position.cosine; });
    if (at) {
      return fmt::format("at token {} they have too few tokens in common for a cosine", *at + 1);
    }
  }
  return "";
}

GateResult Ended(GateResult result, Outcome outcome, std::string text) {
  result.outcome = outcome;
  result.text = std::move(text);
  return result;
}

bool PerplexityIsOut(const Level& level, const Evidence& evidence, const Summary& summary) {
  if (!level.perplexity || !summary.perplexity) return false;
  double limit = std::log1p(level.perplexity->value());
  for (const auto* itself : {&evidence.baseline_itself, &evidence.candidate_itself}) {
    if (!*itself || !(*itself)->perplexity) continue;
    limit = std::max(limit, std::abs(std::log((*itself)->perplexity->ratio())));
  }
  return std::abs(std::log(summary.perplexity->ratio())) > limit;
}

bool ForkIsOut(const Level& level, const Evidence& evidence) {
  if (!evidence.fork) return false;
  const auto repeats = [](const auto& itself) { return !itself || !itself->different; };
  if (level.strict && repeats(evidence.baseline_itself) && repeats(evidence.candidate_itself)) {
    return true;
  }
  return evidence.fork->gap && *evidence.fork->gap > kTieBand;
}

// Beside the default level, or what the cache changes of the baseline where that is more: another
// number of tokens that are evaluated together changes the last digits.
std::optional<Breach> CacheBreach(const Evidence& evidence) {
  if (!evidence.candidate_cache) return std::nullopt;
  const std::size_t at = evidence.between.positions().size() - 1;
  for (const Bound& bound : DefaultLevel().bounds) {
    const auto value = ValueOf(*evidence.candidate_cache, bound.metric);
    if (bound.of != Of::kWorst || !value || !Counts(*value, bound.metric, false)) continue;
    double limit = bound.limit;
    if (evidence.baseline_cache) {
      const double own = ValueOf(*evidence.baseline_cache, bound.metric).value_or(limit);
      if (Counts(own, bound.metric, false) && IsBeyond(own, limit, bound.metric)) limit = own;
    }
    if (IsBeyond(*value, limit, bound.metric)) return Breach{bound, limit, *value, at, at, 1, 0};
  }
  return std::nullopt;
}

// The baseline runs in circles too, or did so beside the candidate until they parted.
bool IsExcused(const Evidence& evidence) {
  const auto& loop = evidence.candidate_loop;
  if (evidence.baseline_loop || !loop) return true;
  const std::size_t parted = evidence.fork ? evidence.fork->at : loop->from;
  return parted >= loop->from + kExcusingTokens;
}

// The first position at which something went wrong.
std::optional<std::size_t> FirstOf(const GateResult& result) {
  std::optional<std::size_t> first;
  const auto take = [&first](std::size_t position) {
    first = std::min(first.value_or(position), position);
  };
  for (const Breach& breach : result.breaches) take(breach.position);
  if (result.fork_out_of_bounds) take(result.fork->at);
  if (result.loop) take(result.loop->from);
  if (result.cache) take(result.cache->position);
  return first;
}

// Judged compares numbers; that there are some to compare is known.
GateResult Judged(GateResult result, const Evidence& evidence, const Level& level) {
  const Summary& summary = result.summary;
  const Scale scale{evidence.between.positions(), summary, level.infinite_counts};
  result.cache = CacheBreach(evidence);
  result.other_chat = evidence.other_chat;
  if (!IsExcused(evidence)) result.loop = evidence.candidate_loop;
  const bool same =
      summary.identical == summary.positions && summary.partial == 0 && !evidence.fork;
  if (same && !result.cache && result.other_chat.empty()) {
    return Ended(std::move(result), Outcome::kIdentical, "");
  }
  result.breaches = FindBreaches(level.strict ? Anything() : level.bounds, evidence, scale);
  result.perplexity_out_of_bounds = PerplexityIsOut(level, evidence, summary);
  result.fork_out_of_bounds = ForkIsOut(level, evidence);
  result.at = FirstOf(result);
  if (summary.perplexity && summary.perplexity->ratio() > kNonsense) {
    return Ended(std::move(result), Outcome::kBroken,
                 "the baseline's text is over ten times as surprising to the candidate");
  }
  if (result.at || result.perplexity_out_of_bounds || !result.other_chat.empty()) {
    return Ended(std::move(result), Outcome::kDiverged, "");
  }
  auto little = TooLittleListed(evidence, level, summary);
  if (little.empty()) little = NothingToCompare(evidence, level);
  const auto outcome = little.empty() ? Outcome::kEquivalent : Outcome::kNotComparable;
  return Ended(std::move(result), outcome, std::move(little));
}

}  // namespace

std::string_view Name(Outcome outcome) {
  switch (outcome) {
    case Outcome::kIdentical:
      return "identical";
    case Outcome::kEquivalent:
      return "equivalent";
    case Outcome::kDiverged:
      return "diverged";
    case Outcome::kBroken:
      return "broken";
    case Outcome::kNotComparable:
      return "not comparable";
  }
  return "";
}

GateResult Judge(const Evidence& evidence, const Level& level) {
  GateResult result{.level = level, .summary = evidence.between.Summarize(), .fork = evidence.fork};
  if (!evidence.not_comparable.empty()) {
    return Ended(std::move(result), Outcome::kNotComparable, evidence.not_comparable);
  }
  if (const auto& flaw = evidence.flaw) {
    result.at = flaw->at;
    result.side = flaw->side;
    return Ended(std::move(result), Outcome::kBroken,
                 flaw->at ? fmt::format("at token {} {}", *flaw->at + 1, flaw->text) : flaw->text);
  }
  if (evidence.fork && evidence.fork->ended_early()) {
    result.at = evidence.fork->at;
    result.side = evidence.fork->candidate ? Side::kBaseline : Side::kCandidate;
    return Ended(std::move(result), Outcome::kBroken,
                 fmt::format("it ended its answer after {} tokens, and was told to go on",
                             evidence.fork->at));
  }
  if (result.summary.positions == 0) {
    return Ended(std::move(result), Outcome::kNotComparable, "no position was compared");
  }
  if (auto why = TooNoisy(evidence); !why.empty()) {
    return Ended(std::move(result), Outcome::kNotComparable, std::move(why));
  }
  return Judged(std::move(result), evidence, level);
}

}  // namespace culprit::gate
