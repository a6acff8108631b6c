#include "analysis/find_window.h"

#include <gtest/gtest.h>

#include "analysis/synthetic_trace.h"

namespace culprit::analysis {
namespace {

using namespace synthetic;
using base::ErrorCode;
using base::Finding;
using base::Steps;
using base::TraceTime;
using experiment::ServerTimings;

TraceTime At(base::HostTime time) { return TraceTime(time.time_since_epoch()); }

// Found is what tests compare of a window: where it is, and how it was found.
struct Found {
  TraceTime begin, end;
  WindowMethod method;
  Confidence confidence;
  bool operator==(const Found&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Found& found) {
  return out << found.begin.time_since_epoch().count() << " to "
             << found.end.time_since_epoch().count() << " ns, method "
             << static_cast<int>(found.method) << ", confidence "
             << static_cast<int>(found.confidence);
}
Found Summary(const base::Result<FoundWindow>& found) {
  EXPECT_TRUE(found) << found.error().Text();
  if (!found) return {};
  return {found->window.begin, found->window.end, found->window.method, found->confidence};
}
Found Decode(const Completion& request, WindowMethod method, Confidence confidence) {
  return {At(request.arrivals.front()), At(request.arrivals.back()), method, confidence};
}

// Served is a recording as they usually are: weights are loaded, the server warms up, rests, and
// answers one request of 50 tokens after the first.
struct Served {
  trace::Trace trace;
  Completion request;
};
Served Serve(std::size_t steps = 50) {
  Recording recording;
  recording.Run({{"__amd_rocclr_copyBuffer", 10ms}});
  recording.Rest(300ms);
  recording.Run(Repeat(Step(), 3));
  recording.Rest(1s);
  Completion request = recording.Serve(Prefill(), Step(), steps);
  return {recording.Finish(), std::move(request)};
}
WindowQuery ByLog(const Completion& request) { return {.logged = {*request.timings}}; }

TEST(FindWindow, TakesTheClientsTimesAndChecksThemAgainstTheServers) {
  const auto [trace, request] = Serve();
  const auto found = FindWindow(trace, {.completion = request});
  EXPECT_EQ(Summary(found), Decode(request, WindowMethod::kClientTimes, Confidence::kConfirmed));
  EXPECT_EQ(found->how, "by the client's times");
  EXPECT_EQ(found->checks, std::vector<std::string>{"the server's timings agree (0.0 % apart)"});
  EXPECT_EQ(found->window.tokens, Tokens(50));
  EXPECT_EQ(found->implied_steps, Steps(50));
  EXPECT_EQ(found->prompt, Tokens(20000));
  EXPECT_EQ(found->window.last - found->window.first, 50 * Step().size());
}

TEST(FindWindow, TakesTheClientsTimesAlone) {
  auto [trace, request] = Serve();
  request.timings.reset();
  EXPECT_EQ(Summary(FindWindow(trace, {.completion = request})),
            Decode(request, WindowMethod::kClientTimes, Confidence::kSingle));
}

TEST(FindWindow, RefusesAClientWhoseClockMissesTheTrace) {
  auto [trace, request] = Serve();
  request.timings.reset();
  for (auto& time : request.arrivals) time += 1h;
  const auto found = FindWindow(trace, {.completion = request});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kNoWindow);
  EXPECT_TRUE(found.error().message.starts_with(
      "the request's times do not lie inside the trace: the request decodes from 3602"))
      << found.error().message;
}

TEST(FindWindow, FallsBackToTheServerWhenTheClientsClockMissesTheTrace) {
  auto [trace, request] = Serve();
  const Found expected = Decode(request, WindowMethod::kServerTimings, Confidence::kContradicted);
  for (auto& time : request.arrivals) time += 1h;
  const auto found = FindWindow(trace, {.completion = request});
  EXPECT_EQ(Summary(found), expected);
  EXPECT_TRUE(found->diagnostics.Has(Finding::kWindowsDisagree));
}

// On a busy machine the client reads a token when its own turn comes.
TEST(FindWindow, MovesTokensThatCameLateBackOntoTheSteps) {
  const auto [trace, request] = Serve();
  for (const auto& [first, last] : {std::pair<Nanos, Nanos>{9ms, 0ms}, {0ms, 7ms}, {13ms, 19ms}}) {
    Completion late = request;
    late.arrivals.front() += first;
    late.arrivals.back() += last;
    const auto found = FindWindow(trace, {.completion = late, .tokens_came_late = true});
    EXPECT_EQ(Summary(found), Decode(request, WindowMethod::kClientTimes, Confidence::kConfirmed));
    EXPECT_EQ(found->window.last - found->window.first, 50 * Step().size());
  }
  Completion late = request;
  late.arrivals.front() += 9ms;
  late.arrivals.back() += 7ms;
  EXPECT_EQ(FindWindow(trace, {.completion = late, .tokens_came_late = true})->how,
            "by the client's times, moved back onto the pattern of steps: the first token came "
            "9.0 ms late, the last 7.0 ms");
}

TEST(FindWindow, LeavesTimesAloneThatNoLatenessExplains) {
  const auto [trace, request] = Serve();
  for (const auto& [first, last] : {std::pair<Nanos, Nanos>{21ms, 0ms}, {-5ms, 0ms}, {0ms, -5ms}}) {
    Completion other = request;
    other.arrivals.front() += first;
    other.arrivals.back() += last;
    other.timings.reset();
    EXPECT_EQ(Summary(FindWindow(trace, {.completion = other, .tokens_came_late = true})),
              Decode(other, WindowMethod::kClientTimes, Confidence::kSingle))
        << first.count() << " ns, " << last.count() << " ns";
  }
}

TEST(FindWindow, EndsAPrefillWhereDecodeBegins) {
  const auto [trace, request] = Serve();
  for (const Nanos late : {9ms, 18ms}) {
    Completion slow = request;
    slow.arrivals.front() += late;
    const auto found = FindWindow(trace, {.phase = Phase::kPrefill, .completion = slow});
    EXPECT_EQ(Summary(found), (Found{At(*request.sent), At(request.arrivals.front()),
                                     WindowMethod::kClientTimes, Confidence::kConfirmed}));
  }
}

// As from a proxy that gathers the whole answer.
TEST(FindWindow, DoesNotTakeTokensThatComeAllAtOnceForTheEndOfPrefill) {
  const auto [trace, request] = Serve();
  Completion burst = request;
  std::fill(burst.arrivals.begin(), burst.arrivals.end(), request.arrivals.back());
  const auto found = FindWindow(trace, {.phase = Phase::kPrefill, .completion = burst});
  EXPECT_EQ(Summary(found), (Found{At(*request.sent), At(request.arrivals.front()),
                                   WindowMethod::kServerTimings, Confidence::kContradicted}));
}

TEST(FindWindow, SurvivesTimesThatNoClockShows) {
  auto [trace, request] = Serve();
  request.timings.reset();
  request.arrivals = {base::HostTime(Nanos(INT64_MIN)), base::HostTime(Nanos(INT64_MAX))};
  const auto found = FindWindow(trace, {.completion = request});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kNoWindow);
}

TEST(FindWindow, BlamesADamagedTraceForARequestThatIsNotInIt) {
  auto [trace, request] = Serve();
  for (auto& arrival : request.arrivals) arrival += 3600s;
  request.timings.reset();
  trace.diagnostics.Add(base::Finding::kNoEnd);
  const auto found = FindWindow(trace, {.completion = request});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kDamagedTrace);
  EXPECT_EQ(found.error().message,
            "the request does not lie inside what there is of the trace: the file has no end: the "
            "traced process was killed, and what it did last is missing");
  EXPECT_EQ(found.error().hint, "trace again and let the server end by itself");
}

TEST(FindWindow, LaysServerTimingsBehindTheLargestGap) {
  const auto [trace, request] = Serve();
  const auto found = FindWindow(trace, ByLog(request));
  EXPECT_EQ(Summary(found), Decode(request, WindowMethod::kServerTimings, Confidence::kSingle));
  EXPECT_EQ(found->how,
            "by the server's timings after the largest gap of the trace (1.000 s), moved onto the "
            "pattern of steps");
  EXPECT_FALSE(found->diagnostics.Has(Finding::kGapElsewhere));
}

TEST(FindWindow, MovesTheServersWindowWhenItsClockBeganBeforeTheFirstDispatch) {
  auto [trace, request] = Serve();
  request.timings->prompt_time += 15ms;
  EXPECT_EQ(Summary(FindWindow(trace, ByLog(request))),
            Decode(request, WindowMethod::kServerTimings, Confidence::kSingle));
}

TEST(FindWindow, SeesThatTheLargestGapLiesInsideDecode) {
  Recording recording;
  recording.Run(Repeat(Step(), 3));
  recording.Rest(200ms);
  std::vector<Works> steps(50, Step());
  steps[20].front().gap += 700ms;
  const Completion request = recording.Serve(Prefill(), steps);
  const auto found = FindWindow(recording.Finish(), ByLog(request));
  EXPECT_EQ(Summary(found), Decode(request, WindowMethod::kServerTimings, Confidence::kSingle));
  EXPECT_TRUE(found->diagnostics.Has(Finding::kGapElsewhere));
  EXPECT_EQ(found->how,
            "by the server's timings after gap number 2 by size, not the largest, of the trace "
            "(200.0 ms), moved onto the pattern of steps");
}

// Laid behind the largest gap, decode would lie where nothing runs at all.
TEST(FindWindow, SeesThatTheLargestGapLiesBeforeTheWarmUp) {
  Recording recording;
  recording.Run({{"__amd_rocclr_copyBuffer", 10ms}});
  recording.Rest(3s);
  recording.Run(Repeat(Step(), 3));
  recording.Rest(1s);
  const Completion request = recording.Serve(Prefill(), Step(), 50);
  const auto found = FindWindow(recording.Finish(), ByLog(request));
  EXPECT_EQ(Summary(found), Decode(request, WindowMethod::kServerTimings, Confidence::kSingle));
  EXPECT_TRUE(found->diagnostics.Has(Finding::kGapElsewhere));
}

TEST(FindWindow, TakesTheLargestGapAsItIsWhenNoStepsCanBeSeen) {
  Recording recording;
  recording.Rest(1s);
  recording.Run({{"warm_up", 1ms}});
  recording.Rest(1s);
  const Completion request = recording.Serve({{"work", 50ms}}, {{"work", 300ms}}, 2);
  const auto found = FindWindow(recording.Finish(), ByLog(request));
  EXPECT_EQ(Summary(found), Decode(request, WindowMethod::kServerTimings, Confidence::kSingle));
  EXPECT_EQ(found->how,
            "by the server's timings after the largest gap of the trace (1.000 s); no pattern of "
            "steps was seen");
}

TEST(FindWindow, RefusesTimingsThatFitNowhere) {
  const auto [trace, request] = Serve();
  for (const base::NanosF predicted : {base::NanosF(1h), base::NanosF(1e300)}) {
    auto timings = *request.timings;
    timings.predicted_time = predicted;
    const auto found = FindWindow(trace, {.logged = {timings}});
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, ErrorCode::kNoWindow);
    EXPECT_TRUE(
        found.error().message.starts_with("no gap of the trace is followed by 100.0 ms of "
                                          "prefill and "))
        << found.error().message;
  }
  auto other_steps = *request.timings;
  other_steps.predicted = Tokens(80);
  EXPECT_FALSE(FindWindow(trace, {.logged = {other_steps}}));
}

TEST(FindWindow, SaysWhenTheServersTimingsFitNowhereBesideTheClients) {
  auto [trace, request] = Serve();
  request.timings->predicted_time = base::NanosF(1h);
  const auto found = FindWindow(trace, {.completion = request});
  EXPECT_EQ(Summary(found), Decode(request, WindowMethod::kClientTimes, Confidence::kSingle));
  ASSERT_EQ(found->checks.size(), 1u);
  EXPECT_TRUE(found->checks[0].starts_with("the server's timings fit nowhere: no gap"));
}

TEST(FindWindow, PicksEachOfSeveralRequests) {
  Recording recording;
  recording.Run(Repeat(Step(), 3));
  std::vector<Completion> requests;
  WindowQuery query;
  for (const auto& [rest, steps] : {std::pair(500ms, 60u), {900ms, 40u}, {100ms, 90u}}) {
    recording.Rest(rest);
    requests.push_back(recording.Serve(Prefill(), Step(), steps));
    query.logged.push_back(*requests.back().timings);
  }
  const auto trace = recording.Finish();
  for (query.request = 0; query.request < 3; ++query.request) {
    EXPECT_EQ(Summary(FindWindow(trace, query)),
              Decode(requests[query.request], WindowMethod::kServerTimings, Confidence::kSingle));
  }
  const auto found = FindWindow(trace, query);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kUsage);
  EXPECT_EQ(found.error().message, "there is no request 4: the log tells of 3");
}

TEST(FindWindow, TellsEqualRequestsApartByTheirOrder) {
  Recording recording;
  recording.Run(Repeat(Step(), 3));
  std::vector<Completion> requests;
  WindowQuery query;
  for (const Nanos rest : {500ms, 900ms, 100ms}) {
    recording.Rest(rest);
    requests.push_back(recording.Serve(Prefill(), Step(), 50));
    query.logged.push_back(*requests.back().timings);
  }
  const auto trace = recording.Finish();
  for (query.request = 0; query.request < 3; ++query.request) {
    EXPECT_EQ(Summary(FindWindow(trace, query)),
              Decode(requests[query.request], WindowMethod::kServerTimings, Confidence::kSingle));
  }
}

TEST(FindWindow, FindsPrefillByEitherSide) {
  const auto [trace, request] = Serve();
  const Found expected{At(*request.sent), At(request.arrivals.front()), WindowMethod::kClientTimes,
                       Confidence::kConfirmed};
  const auto found = FindWindow(trace, {.phase = Phase::kPrefill, .completion = request});
  EXPECT_EQ(Summary(found), expected);
  EXPECT_EQ(found->window.tokens, Tokens(20000));

  WindowQuery by_log = ByLog(request);
  by_log.phase = Phase::kPrefill;
  EXPECT_EQ(
      Summary(FindWindow(trace, by_log)),
      (Found{expected.begin, expected.end, WindowMethod::kServerTimings, Confidence::kSingle}));
}

TEST(FindWindow, RefusesAPrefillThatTookNoTime) {
  auto [trace, request] = Serve();
  request.timings->prompt_time = base::NanosF(0);
  WindowQuery by_log = ByLog(request);
  by_log.phase = Phase::kPrefill;
  const auto found = FindWindow(trace, by_log);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::kNoWindow);
}

TEST(FindWindow, CountsGivenOffsetsFromTheFirstDispatch) {
  const auto [trace, request] = Serve();
  const auto found = FindWindow(trace, {.given = {{300ms, 350ms}}, .tokens = Tokens(7)});
  const TraceTime first = trace.start.front();
  EXPECT_EQ(Summary(found),
            (Found{first + 300ms, first + 350ms, WindowMethod::kGiven, Confidence::kSingle}));
  EXPECT_EQ(found->how, "by --from and --to");
  EXPECT_EQ(found->window.tokens, Tokens(7));
  EXPECT_EQ(found->implied_steps, Steps(7));
}

TEST(FindWindow, ComparesGivenOffsetsWithWhatTheRequestSays) {
  const auto [trace, request] = Serve();
  const auto found = FindWindow(trace, {.completion = request, .given = {{300ms, 350ms}}});
  EXPECT_EQ(found->confidence, Confidence::kContradicted);
  EXPECT_EQ(found->checks, (std::vector<std::string>{"the client's times lie elsewhere",
                                                     "the server's timings lie elsewhere"}));
  EXPECT_EQ(found->diagnostics.count(Finding::kWindowsDisagree), 2);
}

TEST(FindWindow, RefusesOffsetsOutsideTheTrace) {
  const auto [trace, request] = Serve();
  const Nanos length = trace.end.back() - trace.start.front();
  for (const auto& given : {std::pair<Nanos, Nanos>{-1ms, 5ms},
                            {5ms, 5ms},
                            {6ms, 5ms},
                            {length, length + 1ms},
                            {0ms, length + 1s},
                            {0ms, Nanos::max()},
                            {Nanos::min(), Nanos::max()}}) {
    const auto found = FindWindow(trace, {.given = given});
    ASSERT_FALSE(found) << given.first.count() << " to " << given.second.count();
    EXPECT_EQ(found.error().code, ErrorCode::kUsage);
  }
  EXPECT_TRUE(FindWindow(trace, {.given = {{0ms, length}}}));
}

TEST(FindWindow, SaysWhatToGiveWhenNothingIsKnown) {
  const auto [trace, request] = Serve();
  const auto found = FindWindow(trace, {});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().Text(),
            "memory: nothing says where the request lies in the trace; give the request's JSON "
            "(--request-file), the server's log (--log), or --from and --to; `culprit trace-info` "
            "shows what the trace holds");
  EXPECT_EQ(Summary(FindWindow(trace, {.whole_trace = true})),
            (Found{trace.start.front(), trace.end.back(), WindowMethod::kWholeTrace,
                   Confidence::kSingle}));
}

TEST(FindWindow, CountsStepsByTheDraftTokensThatWereAccepted) {
  auto [trace, request] = Serve();
  request.timings->predicted = Tokens(81);
  request.timings->draft = experiment::DraftCounters{Tokens(60), Tokens(30)};
  request.generated = Tokens(81);
  const auto found = FindWindow(trace, {.completion = request});
  EXPECT_EQ(found->window.tokens, Tokens(80));
  EXPECT_EQ(found->implied_steps, Steps(50));
  EXPECT_EQ(found->confidence, Confidence::kConfirmed);
}

}  // namespace
}  // namespace culprit::analysis
