#include "analysis/ownership.h"

#include <gtest/gtest.h>

#include <random>

#include "trace/builder.h"

namespace culprit::analysis {
namespace {

using base::Nanos;
using base::TraceTime;

struct Work {
  std::int64_t start, end;
  std::int64_t stream = 1;
  std::int64_t device = 0;
};

trace::Trace MakeTrace(const std::vector<Work>& work) {
  trace::TraceBuilder builder("test", "memory");
  const auto kernel = builder.AddKernel("k");
  const auto geometry = builder.AddGeometry({});
  for (const Work& w : work) {
    builder.AddDispatch(w.start, w.end, kernel, geometry,
                        builder.AddLane(w.device, std::nullopt, w.stream));
  }
  auto trace = std::move(builder).Finish();
  EXPECT_TRUE(trace);
  return *std::move(trace);
}

Window MakeWindow(const trace::Trace& trace, std::int64_t begin, std::int64_t end) {
  Window window{.begin = TraceTime(Nanos(begin)), .end = TraceTime(Nanos(end))};
  SetDispatchRange(trace, window);
  return window;
}

std::vector<std::int64_t> Counts(const Ownership& own) {
  std::vector<std::int64_t> counts;
  for (const Nanos time : own.exclusive) counts.push_back(time.count());
  counts.push_back(own.idle.count());
  return counts;
}

using Expected = std::vector<std::int64_t>;

TEST(Ownership, IdleIsWhatNoDispatchCovers) {
  const auto trace = MakeTrace({{110, 120}, {130, 150}});
  EXPECT_EQ(Counts(Own(trace, MakeWindow(trace, 100, 160))), (Expected{10, 20, 30}));
}

TEST(Ownership, TheEarliestStartedOwnsTheTimeOfItsLane) {
  // The second was launched early and waits for the first.
  const auto trace = MakeTrace({{100, 180}, {110, 190}, {120, 195}});
  EXPECT_EQ(Counts(Own(trace, MakeWindow(trace, 100, 200))), (Expected{80, 10, 5, 5}));
}

TEST(Ownership, ADispatchHiddenByAnEarlierOneOwnsNothing) {
  const auto trace = MakeTrace({{100, 180}, {110, 150}, {170, 190}});
  EXPECT_EQ(Counts(Own(trace, MakeWindow(trace, 100, 200))), (Expected{80, 0, 10, 10}));
}

TEST(Ownership, DispatchesAreClippedToTheWindow) {
  const auto trace = MakeTrace({{10, 120}, {150, 300}});
  EXPECT_EQ(Counts(Own(trace, MakeWindow(trace, 100, 200))), (Expected{20, 50, 30}));
}

TEST(Ownership, BusyLanesShareEquallyAndTheRestGoesToTheEarliest) {
  const auto trace = MakeTrace({{100, 111, 1}, {100, 111, 2}});
  EXPECT_EQ(Counts(Own(trace, MakeWindow(trace, 100, 111))), (Expected{6, 5, 0}));
}

TEST(Ownership, AWaitingDispatchSharesOnlyOnceItRuns) {
  // Stream 1: A [100,140), B waits from 110 and runs [140,160). Stream 2: C [120,150).
  const auto trace = MakeTrace({{100, 140, 1}, {110, 160, 1}, {120, 150, 2}});
  EXPECT_EQ(Counts(Own(trace, MakeWindow(trace, 100, 160))), (Expected{30, 15, 15, 0}));
}

TEST(Ownership, DevicesShareWhatTheyDoAtOnce) {
  const auto trace = MakeTrace({{100, 140, 1, 0}, {120, 200, 1, 1}});
  EXPECT_EQ(Counts(Own(trace, MakeWindow(trace, 100, 200))), (Expected{30, 70, 0}));
}

// A file may claim as many streams as it has dispatches.
TEST(Ownership, SharesAmongAnyNumberOfLanes) {
  constexpr std::int64_t kLanes = 50'000;
  std::vector<Work> work;
  for (std::int64_t i = 0; i < kLanes; ++i) work.push_back({1, 1 + 2 * kLanes, i + 1});
  const auto trace = MakeTrace(work);
  Expected expected(kLanes, 2);
  expected.push_back(0);
  EXPECT_EQ(Counts(Own(trace, MakeWindow(trace, 1, 1 + 2 * kLanes))), expected);
}

// NaiveOwn decides each nanosecond for itself. It rounds like Own because it shares a stretch
// with the same owners as a whole.
std::vector<std::int64_t> NaiveOwn(const trace::Trace& trace, const Window& window) {
  std::vector<std::int64_t> own(window.last - window.first + 1, 0);
  const auto owners_at = [&](TraceTime t) {
    std::vector<std::size_t> owners;
    std::vector<char> taken(trace.lanes.size(), 0);
    for (std::size_t i = window.first; i < window.last; ++i) {
      char& lane_taken = taken[trace.lane[i].index()];
      if (lane_taken != 0 || trace.start[i] > t || trace.end[i] <= t) continue;
      lane_taken = 1;
      owners.push_back(i);
    }
    return owners;
  };
  TraceTime t = window.begin;
  while (t < window.end) {
    const auto owners = owners_at(t);
    TraceTime until = t;
    while (until < window.end && owners_at(until) == owners) until += Nanos(1);
    const std::int64_t time = (until - t).count();
    t = until;
    if (owners.empty()) {
      own.back() += time;
      continue;
    }
    const auto n = static_cast<std::int64_t>(owners.size());
    for (const std::size_t i : owners) own[i - window.first] += time / n;
    own[owners.front() - window.first] += time % n;
  }
  return own;
}

// The first law, and the definition itself, on traces with overlaps, streams and devices.
TEST(Ownership, RandomTracesAgreeWithADecisionPerNanosecond) {
  std::mt19937 random(20261130);
  const auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  for (int round = 0; round < 400; ++round) {
    std::vector<Work> work;
    const int n = pick(1, 25);
    const int streams = pick(1, 4);
    const int devices = pick(1, 2);
    for (int i = 0; i < n; ++i) {
      const int start = pick(1, 200);
      work.push_back({start, start + pick(0, 60), pick(1, streams), pick(0, devices - 1)});
    }
    const auto trace = MakeTrace(work);
    const int begin = pick(0, 150);
    const Window window = MakeWindow(trace, begin, begin + pick(1, 150));
    const auto own = Counts(Own(trace, window));
    EXPECT_EQ(own, NaiveOwn(trace, window)) << "round " << round;
  }
}

}  // namespace
}  // namespace culprit::analysis
