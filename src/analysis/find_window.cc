#include "analysis/find_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "analysis/server_window.h"
#include "analysis/step_window.h"
#include "base/number_format.h"

namespace culprit::analysis {
namespace {

using base::Count;
using base::ErrorCode;
using base::Fail;
using base::Finding;
using base::Fraction;
using base::Nanos;
using base::Result;
using base::Tokens;
using base::TraceTime;
using experiment::Completion;
using experiment::ServerTimings;

TraceTime TraceBegin(const trace::Trace& trace) { return trace.start.front(); }
TraceTime TraceEnd(const trace::Trace& trace) {
  return *std::max_element(trace.end.begin(), trace.end.end());
}

std::optional<ServerTimings> TimingsOf(const WindowQuery& query) {
  if (query.completion && query.completion->timings) return query.completion->timings;
  if (query.request < query.logged.size()) return query.logged[query.request];
  return std::nullopt;
}

std::optional<Tokens> TokensOf(const WindowQuery& query) {
  if (query.tokens) return query.tokens;
  const auto timings = TimingsOf(query);
  if (query.phase == Phase::kPrefill) {
    if (timings && Count(timings->prompt) > 0) return timings->prompt;
    if (query.completion && Count(query.completion->prompt) > 0) return query.completion->prompt;
    return std::nullopt;
  }
  if (query.completion && Count(query.completion->generated) > 1) {
    return Tokens(Count(query.completion->generated) - 1);
  }
  return timings ? timings->decoded() : std::nullopt;
}

// ImpliedSteps: without speculation a step makes one token. With it only the server knows how many
// it took, and for the whole of its decode, not for a number of tokens that someone gave.
std::optional<base::Steps> ImpliedSteps(const WindowQuery& query, std::optional<Tokens> tokens) {
  const auto timings = TimingsOf(query);
  const bool whole = !query.tokens || (timings && timings->decoded() == query.tokens);
  if (timings && whole && timings->steps()) return timings->steps();
  if (!tokens || (timings && timings->draft && !whole)) return std::nullopt;
  return base::Steps(Count(*tokens));
}

// PromptOf is the length of the prompt, cached tokens included.
std::optional<Tokens> PromptOf(const WindowQuery& query) {
  if (query.completion && Count(query.completion->prompt) > 0) return query.completion->prompt;
  const auto timings = TimingsOf(query);
  if (!timings || Count(timings->prompt) == 0) return std::nullopt;
  return Tokens(Count(timings->prompt) + Count(timings->cached.value_or(Tokens(0))));
}

// TurnOf counts the requests of the log that look like this one.
Turn TurnOf(const WindowQuery& query, const ServerTimings& timings) {
  Turn turn{0, 0};
  for (std::size_t i = 0; i < query.logged.size(); ++i) {
    if (i == query.request) turn.nth = turn.of;
    turn.of += LookAlike(query.logged[i], timings) ? 1 : 0;
  }
  return turn.nth < turn.of ? turn : Turn{};
}

// ToTrace reads a host time as a trace time. Both are the same clock, or the window built from
// them is checked to lie inside the trace. No trace reaches as far as the times that are cut here
// to keep their differences inside 64 bits.
TraceTime ToTrace(base::HostTime time) {
  constexpr Nanos kFurthest(std::int64_t{1} << 61);
  return TraceTime(std::clamp(time.time_since_epoch(), -kFurthest, kFurthest));
}

// ByClient is absent when the client recorded no times.
std::optional<Window> ByClient(const WindowQuery& query) {
  if (!query.completion) return std::nullopt;
  const Completion& request = *query.completion;
  Window window{.phase = query.phase, .method = WindowMethod::kClientTimes};
  if (query.phase == Phase::kPrefill) {
    if (!request.sent || request.arrivals.empty()) return std::nullopt;
    window.begin = ToTrace(*request.sent);
    window.end = ToTrace(request.arrivals.front());
  } else {
    if (request.arrivals.size() < 2) return std::nullopt;
    window.begin = ToTrace(request.arrivals.front());
    window.end = ToTrace(request.arrivals.back());
  }
  if (window.end <= window.begin) return std::nullopt;
  return window;
}

bool LiesInside(const Window& window, const trace::Trace& trace) {
  return window.begin >= TraceBegin(trace) &&
         window.end <= TraceEnd(trace) + Slack(window.length());
}

// LossOf is the first finding of the reader by which records are missing; null without one.
const base::FindingInfo* LossOf(const trace::Trace& trace) {
  for (const auto& entry : trace.diagnostics.entries()) {
    const auto& info = base::Describe(entry.finding);
    if (info.severity >= base::Severity::kDataLoss) return &info;
  }
  return nullptr;
}

base::Error Misses(const Window& window, const trace::Trace& trace, const Completion& request) {
  if (const auto* loss = LossOf(trace)) {
    return {
        ErrorCode::kDamagedTrace,
        fmt::format("the request does not lie inside what there is of the trace: {}", loss->what),
        trace.path, std::string(loss->advice)};
  }
  return {
      ErrorCode::kNoWindow,
      fmt::format("the request's times do not lie inside the trace: the request decodes from "
                  "{} to {} ns of {}, the trace runs from {} to {} ns of {}",
                  window.begin.time_since_epoch().count(), window.end.time_since_epoch().count(),
                  base::Name(request.clock), TraceBegin(trace).time_since_epoch().count(),
                  TraceEnd(trace).time_since_epoch().count(), base::Name(trace.clock)),
      trace.path,
      "take the client's times in the profiler's clock, or leave them out and let the server's "
      "timings find the window"};
}

// DecodeOnSteps is the decode of a request as its passes tell it, and not as its tokens came.
std::optional<MovedBack> DecodeOnSteps(const trace::Trace& trace, const WindowQuery& query) {
  WindowQuery decode = query;
  if (query.phase != Phase::kDecode) decode.tokens.reset();  // they are of the prompt
  decode.phase = Phase::kDecode;
  const auto arrivals = ByClient(decode);
  const auto steps = ImpliedSteps(decode, TokensOf(decode));
  if (!arrivals || !steps) return std::nullopt;
  return MoveBackOntoSteps(trace, *arrivals, *steps,
                           {.vocabulary = query.vocabulary, .speculative = Speculates(query)});
}

// MoveBack is for tokens that came late: it moves the window where it can, and tells how far.
void MoveBack(const trace::Trace& trace, const WindowQuery& query, FoundWindow& found) {
  const auto decode = DecodeOnSteps(trace, query);
  if (query.phase != Phase::kDecode || !decode) return;
  found.how = fmt::format(
      "by the client's times, moved back onto the pattern of steps: the first token came {} late, "
      "the last {}",
      base::Seconds(found.window.begin - decode->window.begin),
      base::Seconds(found.window.end - decode->window.end));
  found.window = decode->window;
}

// EndPrefill ends a prefill where decode begins, when steps of decode had ended before the first
// token came.
void EndPrefill(const MovedBack& decode, FoundWindow& found) {
  if (decode.steps_before_first == 0 || decode.window.begin <= found.window.begin) return;
  found.how = fmt::format(
      "by the client's times, up to the pass that made the first token, which came {} late",
      base::Seconds(found.window.end - decode.window.begin));
  found.window.end = decode.window.begin;
}

// Disagreement is how far the ends of two windows lie apart, as a share of the first.
Fraction Disagreement(const Window& used, const Window& other) {
  const auto apart = [](TraceTime a, TraceTime b) { return std::abs((a - b).count()); };
  return Fraction(static_cast<double>(apart(used.begin, other.begin) + apart(used.end, other.end)) /
                  static_cast<double>(used.length().count()));
}

void Compare(const Window& other, std::string_view name, FoundWindow& found) {
  const Fraction apart = Disagreement(found.window, other);
  const bool agrees = apart.value() <= 0.01;
  found.checks.push_back(apart.value() > 1
                             ? fmt::format("{} lie elsewhere", name)
                             : fmt::format("{} {} ({} apart)", name, agrees ? "agree" : "disagree",
                                           base::Percent(apart)));
  if (agrees) {
    if (found.confidence == Confidence::kSingle) found.confidence = Confidence::kConfirmed;
  } else {
    found.confidence = Confidence::kContradicted;
    found.diagnostics.Add(Finding::kWindowsDisagree, 1, found.checks.back());
  }
}

Result<Window> ByOffsets(const trace::Trace& trace, const WindowQuery& query) {
  const auto [from, to] = *query.given;
  const Nanos length = TraceEnd(trace) - TraceBegin(trace);
  if (from < Nanos(0) || to <= from || from >= length || to > length + length / 50) {
    return Fail(ErrorCode::kUsage,
                fmt::format("the window given does not lie inside the trace, which is {} long",
                            base::Seconds(length)),
                trace.path, "--from and --to count from the first dispatch");
  }
  return Window{.begin = TraceBegin(trace) + from,
                .end = TraceBegin(trace) + to,
                .phase = query.phase,
                .method = WindowMethod::kGiven};
}

std::string NameOf(WindowMethod method) {
  switch (method) {
    case WindowMethod::kClientTimes:
      return "the client's times";
    case WindowMethod::kServerTimings:
      return "the server's timings";
    case WindowMethod::kGiven:
      return "--from and --to";
    case WindowMethod::kLengthDifference:
      return "the difference of two traces";
    case WindowMethod::kWholeTrace:
      return "the whole trace";
  }
  return "";
}

// Choose picks the window and says how; checks come afterwards.
Result<FoundWindow> Choose(const trace::Trace& trace, const WindowQuery& query,
                           const std::optional<Window>& by_client,
                           const std::optional<Result<ServerWindow>>& by_server) {
  FoundWindow found;
  if (query.given) {
    auto window = ByOffsets(trace, query);
    if (!window) return Fail(std::move(window.error()));
    found.window = *window;
  } else if (by_client && LiesInside(*by_client, trace)) {
    found.window = *by_client;
    if (query.tokens_came_late) MoveBack(trace, query, found);
    if (query.phase == Phase::kPrefill) {
      const auto decode = DecodeOnSteps(trace, query);
      if (decode) {
        EndPrefill(*decode, found);
      } else if (by_server && *by_server &&
                 Disagreement(*by_client, (*by_server)->window).value() > 0.1) {
        // Tokens that all come at once tell nothing.
        found.window = (*by_server)->window;
        found.how = (*by_server)->how;
      }
    }
  } else if (by_server && *by_server) {
    found.window = (*by_server)->window;
    found.how = (*by_server)->how;
  } else if (by_client) {
    return Fail(Misses(*by_client, trace, *query.completion));
  } else if (by_server) {
    return Fail(base::Error(by_server->error()));
  } else if (query.whole_trace) {
    found.window = {.begin = TraceBegin(trace), .end = TraceEnd(trace), .phase = query.phase};
  } else {
    return Fail(ErrorCode::kNoWindow, "nothing says where the request lies in the trace",
                trace.path,
                "give the request's JSON (--request-file), the server's log (--log), or --from "
                "and --to; `culprit trace-info` shows what the trace holds");
  }
  if (found.how.empty()) found.how = "by " + NameOf(found.window.method);
  return found;
}

}  // namespace

bool Speculates(const WindowQuery& query) {
  const auto timings = TimingsOf(query);
  return timings && timings->draft;
}

Result<FoundWindow> FindWindow(const trace::Trace& trace, const WindowQuery& query) {
  if (!query.logged.empty() && query.request >= query.logged.size()) {
    return Fail(ErrorCode::kUsage, fmt::format("there is no request {}: the log tells of {}",
                                               query.request + 1, query.logged.size()));
  }
  const auto by_client = ByClient(query);
  std::optional<Result<ServerWindow>> by_server;
  if (const auto timings = TimingsOf(query)) {
    by_server = FindByServerTimings(trace, *timings, query.phase, query.vocabulary,
                                    TurnOf(query, *timings));
  }
  auto found = Choose(trace, query, by_client, by_server);
  if (!found) return found;
  if (found->window.length() <= Nanos(0)) {
    return Fail(ErrorCode::kNoWindow, "the window takes no time", trace.path);
  }

  found->window.tokens = TokensOf(query);
  SetDispatchRange(trace, found->window);
  found->implied_steps = ImpliedSteps(query, found->window.tokens);
  found->prompt = PromptOf(query);
  const WindowMethod used = found->window.method;
  if (by_client && used != WindowMethod::kClientTimes && used != WindowMethod::kWholeTrace) {
    Compare(*by_client, NameOf(WindowMethod::kClientTimes), *found);
  }
  if (by_server && *by_server && used != WindowMethod::kServerTimings) {
    Compare((*by_server)->window, NameOf(WindowMethod::kServerTimings), *found);
  }
  const bool surely =
      used != WindowMethod::kServerTimings && found->confidence == Confidence::kConfirmed;
  if (by_server && *by_server && (*by_server)->gap_rank > 0 && !surely) {
    found->diagnostics.Add(Finding::kGapElsewhere, 1,
                           fmt::format("it follows gap number {}", (*by_server)->gap_rank + 1));
  }
  if (by_server && !*by_server) {
    found->checks.push_back("the server's timings fit nowhere: " + by_server->error().message);
  }
  return found;
}

}  // namespace culprit::analysis
