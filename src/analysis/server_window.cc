#include "analysis/server_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "analysis/step_window.h"
#include "base/number_format.h"

namespace culprit::analysis {
namespace {

using base::Count;
using base::ErrorCode;
using base::Fail;
using base::Nanos;
using base::Result;
using base::TraceTime;
using experiment::ServerTimings;

// Gap is a stretch without work; next is the first dispatch after it.
struct Gap {
  Nanos length;
  std::size_t next;
};

// LargestGaps returns at most 16 gaps, largest first; the start of the trace is the last one.
std::vector<Gap> LargestGaps(const trace::Trace& trace) {
  constexpr std::size_t kTried = 16;
  const auto larger = [](const Gap& a, const Gap& b) {
    return a.length != b.length ? a.length > b.length : a.next < b.next;
  };
  std::vector<Gap> gaps;  // a heap with the smallest in front
  TraceTime covered = trace.end.front();
  for (std::size_t i = 1; i < trace.size(); ++i) {
    const Gap gap{trace.start[i] - covered, i};
    covered = std::max(covered, trace.end[i]);
    if (gap.length <= Nanos(0)) continue;
    if (gaps.size() == kTried && !larger(gap, gaps.front())) continue;
    if (gaps.size() == kTried) {
      std::pop_heap(gaps.begin(), gaps.end(), larger);
      gaps.pop_back();
    }
    gaps.push_back(gap);
    std::push_heap(gaps.begin(), gaps.end(), larger);
  }
  std::sort(gaps.begin(), gaps.end(), larger);
  gaps.push_back({Nanos(0), 0});
  return gaps;
}

// A time longer than any trace (a log is text, and may say 1e300 ms) fits nowhere and stays so.
Nanos Rounded(base::NanosF time) {
  constexpr auto kLongest = static_cast<double>(std::int64_t{1} << 61);  // 73 years
  return Nanos(static_cast<Nanos::rep>(std::min(time.count() + 0.5, kLongest)));
}

// Candidate is where decode lies if the request started with a certain dispatch; nothing when it
// cannot have. steps_seen: there is a pattern of steps, whether it fits or not.
struct Candidate {
  std::optional<Window> decode;
  bool steps_seen = false;
};

Candidate TryGap(const trace::Trace& trace, std::size_t next, const ServerTimings& timings,
                 TraceTime trace_end, std::optional<std::int64_t> vocabulary) {
  Window classic{.phase = Phase::kDecode, .method = WindowMethod::kServerTimings};
  classic.begin = trace.start[next] + Rounded(timings.prompt_time);
  classic.end = classic.begin + Rounded(timings.predicted_time);
  if (classic.end > trace_end + Slack(classic.length())) return {};
  const auto moved =
      MoveOntoSteps(trace, classic, *timings.steps(),
                    {.vocabulary = vocabulary, .speculative = timings.draft.has_value()});
  if (!moved) return {classic, false};
  if (moved->end <= moved->begin) return {std::nullopt, true};
  return {moved, true};
}

std::string HowFound(std::size_t rank, const Gap& gap, bool snapped) {
  return fmt::format(
      "by the server's timings after {} of the trace ({}){}",
      rank == 0 ? "the largest gap"
                : fmt::format("gap number {} by size, not the largest,", rank + 1),
      base::Seconds(gap.length),
      snapped ? ", moved onto the pattern of steps" : "; no pattern of steps was seen");
}

// Places returns where the request can lie, by size of the gap, each place once: the first `wanted`
// that show its steps. Where no gap leads to a pattern of steps it is one place at most, unproven.
std::vector<ServerWindow> Places(const trace::Trace& trace, const ServerTimings& timings,
                                 std::optional<std::int64_t> vocabulary, std::size_t wanted) {
  const TraceTime trace_end = *std::max_element(trace.end.begin(), trace.end.end());
  const auto gaps = LargestGaps(trace);
  std::vector<ServerWindow> places;
  std::optional<ServerWindow> unproven;
  bool steps_seen = false;
  for (std::size_t rank = 0; rank < gaps.size() && places.size() < wanted; ++rank) {
    const Candidate candidate = TryGap(trace, gaps[rank].next, timings, trace_end, vocabulary);
    steps_seen = steps_seen || candidate.steps_seen;
    if (!candidate.decode) continue;
    ServerWindow found{*candidate.decode, rank, HowFound(rank, gaps[rank], candidate.steps_seen)};
    if (!candidate.steps_seen) {
      if (!unproven) unproven = std::move(found);
      continue;
    }
    const bool known = std::any_of(places.begin(), places.end(), [&](const ServerWindow& other) {
      return other.window.begin == found.window.begin;
    });
    if (!known) places.push_back(std::move(found));
  }
  if (!steps_seen && unproven) places.push_back(*std::move(unproven));
  return places;
}

}  // namespace

bool LookAlike(const ServerTimings& a, const ServerTimings& b) {
  if (!a.steps() || a.steps() != b.steps()) return false;
  const base::NanosF step = a.predicted_time / static_cast<double>(Count(*a.steps()));
  return std::chrono::abs(a.predicted_time - b.predicted_time) < step &&
         std::chrono::abs(a.prompt_time - b.prompt_time) < Slack(Rounded(a.predicted_time));
}

Result<ServerWindow> FindByServerTimings(const trace::Trace& trace, const ServerTimings& timings,
                                         Phase phase, std::optional<std::int64_t> vocabulary,
                                         Turn turn) {
  if (!timings.steps() || timings.predicted_time.count() < 1) {
    return Fail(ErrorCode::kNoWindow, "the server's timings cover no decode step", trace.path);
  }
  auto places = Places(trace, timings, vocabulary, turn.of);
  if (places.empty()) {
    return Fail(
        ErrorCode::kNoWindow,
        fmt::format("no gap of the trace is followed by {} of prefill and {} of decode "
                    "with {} steps",
                    base::Seconds(Rounded(timings.prompt_time)),
                    base::Seconds(Rounded(timings.predicted_time)), Count(*timings.steps())),
        trace.path, "is this the log of the traced run?");
  }
  // A log may tell of requests that were not traced: then there are no turns to go by.
  std::size_t chosen = 0;
  if (places.size() == turn.of) {
    std::sort(places.begin(), places.end(), [](const ServerWindow& a, const ServerWindow& b) {
      return a.window.begin < b.window.begin;
    });
    chosen = turn.nth;
  }
  ServerWindow found = std::move(places[chosen]);
  if (phase == Phase::kPrefill) {
    found.window.end = found.window.begin;
    found.window.begin -= Rounded(timings.prompt_time);
    found.window.phase = phase;
  }
  SetDispatchRange(trace, found.window);
  return found;
}

}  // namespace culprit::analysis
