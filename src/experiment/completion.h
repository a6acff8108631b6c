#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/units.h"

namespace culprit::experiment {

// DraftCounters are the server's own counts under speculative decoding.
struct DraftCounters {
  base::Tokens drafted;
  base::Tokens accepted;
};

// ServerTimings is what llama-server says of one request, as it says it: the `timings` object of
// an answer, or the timing lines of its log.
//
// prompt_time runs to the first sampled token, predicted_time from there to the last one: it
// covers predicted - 1 tokens. The rates that servers print are never read: builds before summer
// 2026 divide by predicted, later ones by predicted - 1.
struct ServerTimings {
  base::NanosF prompt_time{};
  base::Tokens prompt{};  // processed, without what came from the cache
  std::optional<base::Tokens> cached;
  base::NanosF predicted_time{};
  base::Tokens predicted{};            // the first sampled token included
  std::optional<DraftCounters> draft;  // absent without speculation

  // decoded is the number of tokens that predicted_time covers; absent below 2 tokens.
  [[nodiscard]] std::optional<base::Tokens> decoded() const;
  // steps is the number of forward passes of the target model behind decoded(): each accepted
  // draft token saves one. Absent when decoded() is, or when the counters contradict it.
  [[nodiscard]] std::optional<base::Steps> steps() const;
  // per_token is predicted_time / decoded(). per_step divides by steps().
  [[nodiscard]] std::optional<base::PerToken> per_token() const;
  [[nodiscard]] std::optional<base::PerStep> per_step() const;
};

// Completion is one request as its client saw it.
//
// arrivals has one entry per streamed chunk with text, in order, in `clock`; empty when the client
// did not stream. A chunk is a token, but for one whose text only a later token completes (half a
// character) and for drafts accepted together. sent and ended are the request's own times.
// text is all that was streamed, reasoning and content; token_ids are there where the server tells
// them.
struct Completion {
  base::NamedClock clock = base::NamedClock::kUnknown;
  std::optional<base::HostTime> sent;
  std::optional<base::HostTime> ended;
  std::vector<base::HostTime> arrivals;
  base::Tokens prompt{};  // evaluated and cached together
  base::Tokens generated{};
  std::optional<ServerTimings> timings;
  std::optional<std::string> finish_reason;  // "length", "stop", … as the chat API calls them
  std::optional<std::string> text;
  std::vector<std::int64_t> token_ids;

  // acceptance is the share of drafted tokens that were accepted; absent without speculation.
  [[nodiscard]] std::optional<base::Fraction> acceptance() const;
  // streamed_per_token is the client's own measure of decode: last arrival minus first, over the
  // tokens after the first. Absent without at least two arrivals and two tokens.
  [[nodiscard]] std::optional<base::PerToken> streamed_per_token() const;
};

}  // namespace culprit::experiment
