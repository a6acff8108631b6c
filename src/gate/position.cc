#include "gate/position.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace culprit::gate {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Shared is a token that both sides hold possible.
struct Shared {
  TokenId token;
  double log_p, log_q;
};

// Aligned is two distributions token by token: what both hold possible, what only one does, and
// the rest of each side's probability, of which the other side says nothing.
struct Aligned {
  std::vector<Shared> shared;
  double omitted = 0, added = 0;
  double p_rest = 0, q_rest = 0;
};

// Where a side puts the probability of a token that the other does not share.
void AddAlone(double logprob, bool other_tells, double& alone, double& rest) {
  if (IsSupported(logprob)) (other_tells ? alone : rest) += std::exp(logprob);
}

Aligned Align(const Distribution& baseline, const Distribution& candidate) {
  Aligned aligned{.p_rest = baseline.tail(), .q_rest = candidate.tail()};
  const auto p = baseline.listed(), q = candidate.listed();
  aligned.shared.reserve(std::min(p.size(), q.size()));
  const double p_scale = baseline.log_scale(), q_scale = candidate.log_scale();
  std::size_t i = 0, k = 0;
  while (i < p.size() || k < q.size()) {
    const bool in_p = k == q.size() || (i < p.size() && p[i].token <= q[k].token);
    const bool in_q = i == p.size() || (k < q.size() && q[k].token <= p[i].token);
    const double log_p = in_p ? p[i].logprob + p_scale : -kInfinity;
    const double log_q = in_q ? q[k].logprob + q_scale : -kInfinity;
    if (IsSupported(log_p) && IsSupported(log_q)) {
      aligned.shared.push_back({p[i].token, log_p, log_q});
    } else {
      AddAlone(log_p, in_q || candidate.full(), aligned.omitted, aligned.p_rest);
      AddAlone(log_q, in_p || baseline.full(), aligned.added, aligned.q_rest);
    }
    i += in_p ? 1 : 0;
    k += in_q ? 1 : 0;
  }
  return aligned;
}

// Term is one token's part of KL(p||q), as p ln(p/q) - p + q: the same sum, for p and q add up to
// the same, of terms of which none is negative. Near p = q the difference cancels, so it is taken
// from the logarithms.
double Term(double log_p, double log_q) {
  const double x = log_p - log_q, p = std::exp(log_p);
  if (std::abs(x) < 1) return p * (x + std::expm1(-x));
  return p * x - p + std::exp(log_q);
}

// RestTerm is that of the rest. Where the other side has no rest the term is left out, which keeps
// the sum a lower bound.
double RestTerm(double p, double q) {
  if (p > 0 && q > 0) return Term(std::log(p), std::log(q));
  return p > 0 ? 0 : q;
}

// JsTerm is one token's part of the Jensen-Shannon divergence.
double JsTerm(double p, double q) {
  const double middle = (p + q) / 2;
  double term = 0;
  if (p > 0) term += p / 2 * std::log(p / middle);
  if (q > 0) term += q / 2 * std::log(q / middle);
  return term;
}

void SetDivergences(const Aligned& aligned, Position& position) {
  double kl = aligned.added + RestTerm(aligned.p_rest, aligned.q_rest);
  double reverse = aligned.omitted + RestTerm(aligned.q_rest, aligned.p_rest);
  double js = (aligned.omitted + aligned.added) / 2 * std::numbers::ln2 +
              JsTerm(aligned.p_rest, aligned.q_rest);
  double apart = aligned.omitted + aligned.added + std::abs(aligned.p_rest - aligned.q_rest);
  for (const auto& [token, log_p, log_q] : aligned.shared) {
    const double p = std::exp(log_p), q = std::exp(log_q);
    kl += Term(log_p, log_q);
    reverse += Term(log_q, log_p);
    js += JsTerm(p, q);
    apart += std::abs(p - q);
  }
  if (aligned.omitted > kNegligible) kl = kInfinity;
  if (aligned.added > kNegligible) reverse = kInfinity;
  position.kl = kl;
  position.reverse_kl = reverse;
  position.js = std::clamp(js, 0.0, std::numbers::ln2);
  position.total_variation = std::min(apart / 2, 1.0);
  position.unseen = std::min(aligned.p_rest, aligned.q_rest);
}

std::optional<double> CentredCosine(const std::vector<Shared>& shared) {
  if (shared.size() < 2) return std::nullopt;
  double p_mean = 0, q_mean = 0;
  for (const auto& [token, log_p, log_q] : shared) {
    p_mean += log_p;
    q_mean += log_q;
  }
  p_mean /= static_cast<double>(shared.size());
  q_mean /= static_cast<double>(shared.size());
  double both = 0, p_square = 0, q_square = 0;
  for (const auto& [token, log_p, log_q] : shared) {
    both += (log_p - p_mean) * (log_q - q_mean);
    p_square += (log_p - p_mean) * (log_p - p_mean);
    q_square += (log_q - q_mean) * (log_q - q_mean);
  }
  if (p_square <= 0 || q_square <= 0) return std::nullopt;
  return std::clamp(both / std::sqrt(p_square * q_square), -1.0, 1.0);
}

void SetLargestDelta(const std::vector<Shared>& shared, Position& position) {
  for (const auto& [token, log_p, log_q] : shared) {
    const double delta = std::abs(log_p - log_q);
    if (position.max_delta_token && delta <= position.max_delta) continue;
    position.max_delta = delta;
    position.max_delta_token = token;
  }
}

// The likeliest tokens of a side, at most k: by probability, and equal ones by token.
std::vector<TokenLogprob> Likeliest(const Distribution& distribution, std::size_t k) {
  const auto listed = distribution.listed();
  std::vector<TokenLogprob> top(std::min({k, listed.size(), distribution.support()}));
  std::partial_sort_copy(listed.begin(), listed.end(), top.begin(), top.end(),
                         [](const TokenLogprob& a, const TokenLogprob& b) {
                           return a.logprob != b.logprob ? a.logprob > b.logprob
                                                         : a.token < b.token;
                         });
  return top;
}

double Recall(const std::vector<TokenLogprob>& wanted, const std::vector<TokenLogprob>& found) {
  const auto hits = std::count_if(wanted.begin(), wanted.end(), [&found](const auto& each) {
    return std::any_of(found.begin(), found.end(),
                       [&each](const auto& other) { return other.token == each.token; });
  });
  return static_cast<double>(hits) / static_cast<double>(wanted.size());
}

// By how much a side prefers its own likeliest token to the other side's.
double Preference(const Distribution& distribution, double own, TokenId other) {
  const auto logprob = distribution.Logprob(other);
  return logprob ? own + distribution.log_scale() - *logprob : kInfinity;
}

void SetTop(const Distribution& baseline, const Distribution& candidate, std::size_t k,
            Position& position) {
  const auto p_top = Likeliest(baseline, std::max<std::size_t>(k, 1));
  const auto q_top = Likeliest(candidate, std::max<std::size_t>(k, 1));
  position.recall = Recall(p_top, q_top);
  const double p_gap = Preference(baseline, p_top.front().logprob, q_top.front().token);
  const double q_gap = Preference(candidate, q_top.front().logprob, p_top.front().token);
  // Of several equally likely tokens each is the likeliest.
  position.top_agrees = p_gap == 0 || q_gap == 0;
  if (!position.top_agrees) position.flip_gap = std::max(p_gap, q_gap);
}

void SetForced(const Distribution& baseline, const Distribution& candidate, TokenId forced,
               Position& position) {
  position.baseline_logprob = baseline.Logprob(forced);
  position.candidate_logprob = candidate.Logprob(forced);
  if (!position.candidate_logprob) return;
  const auto listed = candidate.listed();
  const double told = *position.candidate_logprob;
  position.rank = 1 + static_cast<std::size_t>(std::count_if(
                          listed.begin(), listed.end(), [&](const TokenLogprob& each) {
                            return each.logprob + candidate.log_scale() > told;
                          }));
}

}  // namespace

Position ComparePositions(const Distribution& baseline, const Distribution& candidate,
                          TokenId forced, std::size_t top) {
  Position position;
  position.identical = std::equal(baseline.listed().begin(), baseline.listed().end(),
                                  candidate.listed().begin(), candidate.listed().end());
  position.partial = !baseline.full() || !candidate.full();
  position.baseline_support = baseline.support();
  position.candidate_support = candidate.support();
  const Aligned aligned = Align(baseline, candidate);
  position.omitted = aligned.omitted;
  position.added = aligned.added;
  SetDivergences(aligned, position);
  position.cosine = CentredCosine(aligned.shared);
  SetLargestDelta(aligned.shared, position);
  SetTop(baseline, candidate, top, position);
  SetForced(baseline, candidate, forced, position);
  return position;
}

}  // namespace culprit::gate
