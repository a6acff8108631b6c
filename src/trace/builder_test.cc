#include "trace/builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <random>

namespace culprit::trace {
namespace {

using base::ErrorCode;
using base::Finding;
using testing::ElementsAre;
using testing::IsEmpty;
using Entry = base::Diagnostics::Entry;

constexpr std::int64_t kFirst = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();

// Fixture is a builder with one kernel, geometry and lane, and short ways to use it.
struct Fixture {
  TraceBuilder builder{"test format", "file.db"};
  KernelId kernel = builder.AddKernel("k");
  GeometryId geometry = builder.AddGeometry({});
  LaneId lane = builder.AddLane(0, 1, 1);

  void Add(std::int64_t start, std::int64_t end) { AddOn(lane, start, end); }
  void AddOn(LaneId on, std::int64_t start, std::int64_t end) {
    builder.AddDispatch(start, end, kernel, geometry, on);
  }
  Trace Finish() { return std::move(builder).Finish().value(); }
};

// Rows are a trace's dispatches as "start-end kernel".
std::vector<std::string> Rows(const Trace& trace) {
  std::vector<std::string> rows;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    rows.push_back(std::to_string(trace.start[i].time_since_epoch().count()) + "-" +
                   std::to_string(trace.end[i].time_since_epoch().count()) + " " +
                   std::string(trace.kernel_name(trace.kernel[i])));
  }
  return rows;
}

TEST(TraceBuilder, HandsOverWhatItWasGiven) {
  TraceBuilder builder("test format", "file.db");
  builder.AddDevice(3, "gfx1151");
  const KernelId kernel = builder.AddKernel("mul_mat");
  const GeometryId geometry = builder.AddGeometry({{128, 1, 1}, {32, 4, 1}});
  const LaneId lane = builder.AddLane(3, 7, 2);
  builder.AddDispatch(10, 15, kernel, geometry, lane);
  builder.AddDispatch(20, 30, kernel, geometry, lane);
  const Trace trace = std::move(builder).Finish().value();
  EXPECT_EQ(trace.format, "test format");
  EXPECT_EQ(trace.path, "file.db");
  EXPECT_THAT(Rows(trace), ElementsAre("10-15 mul_mat", "20-30 mul_mat"));
  EXPECT_EQ(trace.geometries[trace.geometry[1].index()], (Geometry{{128, 1, 1}, {32, 4, 1}}));
  const Lane& on = trace.lanes[trace.lane[1].index()];
  EXPECT_EQ(on.queue, 7);
  EXPECT_EQ(on.stream, 2);
  EXPECT_EQ(trace.devices[on.device.index()].name, "gfx1151");
  EXPECT_EQ(trace.devices[on.device.index()].number, 3);
  EXPECT_THAT(trace.diagnostics.entries(), IsEmpty());
}

TEST(TraceBuilder, SortsByStartAndKeepsTheFilesOrderInTies) {
  Fixture f;
  const auto add = [&](std::int64_t start, const char* name) {
    f.builder.AddDispatch(start, start + 1, f.builder.AddKernel(name), f.geometry, f.lane);
  };
  add(30, "c"), add(20, "b1"), add(10, "a"), add(20, "b2"), add(20, "b3");
  const Trace trace = f.Finish();
  EXPECT_THAT(Rows(trace), ElementsAre("10-11 a", "20-21 b1", "20-21 b2", "20-21 b3", "30-31 c"));
  EXPECT_EQ(trace.diagnostics.count(Finding::kOutOfOrder), 2);
}

TEST(TraceBuilder, SortsEveryColumnAlike) {
  std::mt19937 random(1);
  std::vector<std::int64_t> order(500);
  std::iota(order.begin(), order.end(), 1);
  std::shuffle(order.begin(), order.end(), random);
  Fixture f;
  f.builder.Reserve(order.size());
  for (const std::int64_t i : order) {
    const auto n = static_cast<std::uint32_t>(i);
    f.builder.AddDispatch(10 * i, 10 * i + 5, f.builder.AddKernel(std::to_string(i)),
                          f.builder.AddGeometry({{n, 1, 1}, {1, 1, 1}}), f.builder.AddLane(0, 1, i),
                          i % 7 == 0 ? Layer() : Layer(static_cast<std::uint16_t>(i)));
  }
  const Trace trace = f.Finish();
  for (std::size_t at = 0; at < trace.size(); ++at) {
    const auto i = static_cast<std::int64_t>(at + 1);
    ASSERT_EQ(Rows(trace)[at],
              std::to_string(10 * i) + "-" + std::to_string(10 * i + 5) + " " + std::to_string(i));
    ASSERT_EQ(trace.geometries[trace.geometry[at].index()].grid.x, i);
    ASSERT_EQ(trace.lanes[trace.lane[at].index()].stream, i);
    ASSERT_EQ(trace.layer[at], i % 7 == 0 ? Layer() : Layer(static_cast<std::uint16_t>(i)));
  }
}

TEST(TraceBuilder, HasLayersOnlyWhereADispatchHasOne) {
  Fixture f;
  const KernelId kernel = f.builder.AddKernel("a");
  f.builder.AddDispatch(30, 31, kernel, f.geometry, f.lane);
  f.builder.AddDispatch(10, 11, kernel, f.geometry, f.lane, Layer(4));
  f.builder.AddDispatch(20, 21, kernel, f.geometry, f.lane);
  EXPECT_THAT(f.Finish().layer, ElementsAre(Layer(4), Layer(), Layer()));
  Fixture none;
  none.builder.AddDispatch(10, 11, none.builder.AddKernel("a"), none.geometry, none.lane);
  EXPECT_THAT(none.Finish().layer, IsEmpty());
}

TEST(TraceBuilder, SwapsStampsAndLeavesOutRecordsWithoutThem) {
  Fixture f;
  f.Add(10, 20), f.Add(40, 30), f.Add(0, 0), f.Add(0, 50), f.Add(50, 0);
  const Trace trace = f.Finish();
  EXPECT_THAT(Rows(trace), ElementsAre("10-20 k", "30-40 k"));
  EXPECT_THAT(trace.diagnostics.entries(), ElementsAre(Entry{Finding::kZeroStamps, 3, ""},
                                                       Entry{Finding::kEndBeforeStart, 1, ""}));
}

TEST(TraceBuilder, RefusesATraceWhoseStampsAreAllZero) {
  Fixture f;
  f.Add(0, 0), f.Add(0, 0);
  const auto refused = std::move(f.builder).Finish();
  EXPECT_EQ(refused.error().code, ErrorCode::kDamagedTrace);
  EXPECT_EQ(refused.error().place, "file.db");
  EXPECT_EQ(refused.error().message, base::Describe(Finding::kAllStampsZero).what);
  EXPECT_EQ(refused.error().hint, base::Describe(Finding::kAllStampsZero).advice);
}

TEST(TraceBuilder, RefusesATraceWithoutDispatches) {
  Fixture f;
  const auto refused = std::move(f.builder).Finish();
  EXPECT_EQ(refused.error().code, ErrorCode::kNotATrace);
  EXPECT_EQ(refused.error().message, "is a test format file without a single dispatch");
}

TEST(TraceBuilder, LeavesOutStampsThatNoClockShows) {
  Fixture f;
  f.Add(10, 20), f.Add(kFirst, 20), f.Add(10, kLast), f.Add(kLast, kFirst);
  const Trace trace = f.Finish();
  EXPECT_THAT(Rows(trace), ElementsAre("10-20 k"));
  EXPECT_EQ(trace.diagnostics.count(Finding::kMalformedRow), 3);
}

TEST(TraceBuilder, KeepsTheSumOfAllDurationsWithinAnInteger) {
  Fixture f;
  const std::int64_t far = std::int64_t{1} << 61;
  for (int i = 0; i < 10; ++i) f.Add(1, far);
  f.Add(10, 12);
  const Trace trace = f.Finish();
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    ASSERT_FALSE(__builtin_add_overflow(sum, (trace.end[i] - trace.start[i]).count(), &sum));
  }
  EXPECT_EQ(trace.diagnostics.count(Finding::kMalformedRow), 6);
  EXPECT_EQ(trace.size(), 5u);
}

TEST(TraceBuilder, TellsLanesApartByStream) {
  TraceBuilder builder("", "");
  const LaneId lane = builder.AddLane(0, 1, 5);
  EXPECT_EQ(builder.AddLane(0, 1, 5), lane);
  EXPECT_EQ(builder.AddLane(0, 2, 5), lane) << "a stream may change its queue";
  EXPECT_NE(builder.AddLane(0, 1, 6), lane);
  EXPECT_NE(builder.AddLane(1, 1, 5), lane) << "another device";
}

TEST(TraceBuilder, TellsStreamZeroAndNoStreamApartByQueue) {
  TraceBuilder builder("", "");
  const LaneId zero = builder.AddLane(0, 1, 0);
  EXPECT_EQ(builder.AddLane(0, 1, 0), zero);
  EXPECT_NE(builder.AddLane(0, 2, 0), zero);
  const LaneId none = builder.AddLane(0, 1, std::nullopt);
  EXPECT_EQ(builder.AddLane(0, 1, std::nullopt), none);
  EXPECT_NE(builder.AddLane(0, 2, std::nullopt), none);
  EXPECT_NE(none, zero);
}

TEST(TraceBuilder, TellsLanesOfProcessesApart) {
  TraceBuilder builder("", "");
  const LaneId first = builder.AddLane(0, 1, 5, 100);
  EXPECT_EQ(builder.AddLane(0, 1, 5, 100), first);
  EXPECT_NE(builder.AddLane(0, 1, 5, 200), first);
}

TEST(TraceBuilder, DropsRepeatsOnlyWhenAsked) {
  for (const bool asked : {false, true}) {
    Fixture f;
    const LaneId other = f.builder.AddLane(0, 1, 2);
    if (asked) f.builder.DropRepeats();
    // Merged twice: a, b and the same again; two of them start together.
    for (int copy = 0; copy < 2; ++copy) f.Add(10, 20), f.Add(10, 30), f.Add(40, 50);
    f.AddOn(other, 10, 20);
    const Trace trace = f.Finish();
    EXPECT_EQ(trace.size(), asked ? 4u : 7u);
    EXPECT_EQ(trace.diagnostics.count(Finding::kDuplicateDispatches), asked ? 3 : 0);
  }
}

TEST(TraceBuilder, CountsOverlapsOfALaneAndNotThoseBetweenLanes) {
  Fixture f;
  const LaneId other = f.builder.AddLane(0, 1, 2);
  f.AddOn(f.lane, 10, 30), f.AddOn(other, 15, 40), f.AddOn(f.lane, 20, 25);
  f.AddOn(f.lane, 29, 35), f.AddOn(f.lane, 35, 50), f.AddOn(other, 40, 45);
  const Trace trace = f.Finish();
  EXPECT_THAT(trace.diagnostics.entries(), ElementsAre(Entry{Finding::kSameLaneOverlap, 2, ""}));
}

TEST(TraceBuilder, CountsOnlyDevicesThatRanSomething) {
  Fixture f;
  const LaneId second = f.builder.AddLane(1, 1, 1);
  f.builder.AddLane(2, 1, 1);
  f.AddOn(f.lane, 10, 20), f.AddOn(second, 10, 20);
  EXPECT_THAT(f.Finish().diagnostics.entries(), ElementsAre(Entry{Finding::kMixedDevices, 2, ""}));
}

TEST(TraceBuilder, NamesADeviceBeforeOrAfterItsLanes) {
  Fixture f;
  f.builder.AddLane(3, 1, 1);
  const DeviceId id = f.builder.AddDevice(3, "gfx1151");
  EXPECT_EQ(f.builder.AddDevice(3, ""), id);
  EXPECT_EQ(f.builder.AddDevice(3, "another name"), id);
  f.Add(10, 20);
  const Trace trace = f.Finish();
  EXPECT_EQ(trace.devices[id.index()].name, "gfx1151");
  EXPECT_EQ(trace.devices[0].name, "device 0");
}

TEST(TraceBuilder, StripsWhatProfilersAppendToNames) {
  Fixture f;
  for (const char* name : {"rope", "rope.kd", "rope [clone .kd]", "rope (.kd)", "rope.kd (.kd)",
                           "rope.kd [clone .kd]"}) {
    const KernelId id = f.builder.AddKernel(name);
    EXPECT_EQ(f.builder.trace().kernel_name(id), "rope") << name;
    EXPECT_EQ(id, f.builder.AddKernel("rope")) << name;
  }
  EXPECT_EQ(f.builder.trace().kernel_name(f.builder.AddKernel(".kdtree")), ".kdtree");
  EXPECT_EQ(f.builder.trace().kernel_name(f.builder.AddKernel("")), "");
}

TEST(TraceBuilder, TellsACopyFromAKernelOfTheSameName) {
  TraceBuilder builder("", "");
  const KernelId copy = builder.AddKernel("memcpy", WorkKind::kCopy);
  EXPECT_EQ(builder.AddKernel("memcpy", WorkKind::kCopy), copy);
  EXPECT_NE(builder.AddKernel("memcpy", WorkKind::kKernel), copy);
  EXPECT_EQ(builder.trace().kernels[copy.index()].kind, WorkKind::kCopy);
}

TEST(TraceBuilder, KeepsEachGeometryOnce) {
  TraceBuilder builder("", "");
  std::vector<GeometryId> ids;
  for (int round = 0; round < 2; ++round) {
    for (std::uint32_t n = 0; n < 64; ++n) {
      // Every permutation of the same numbers is another geometry.
      const GeometryId id = builder.AddGeometry({{n, 1, 2}, {n % 7, 2, 1}});
      const GeometryId turned = builder.AddGeometry({{1, n, 2}, {2, n % 7, 1}});
      if (round == 0) {
        ids.push_back(id), ids.push_back(turned);
      } else {
        EXPECT_EQ(id, ids[2 * n]);
        EXPECT_EQ(turned, ids[2 * n + 1]);
      }
    }
  }
  EXPECT_EQ(builder.trace().geometries.size(), 128u);
}

TEST(TraceBuilder, SortsHostCallsAndNeverLetsThemEndBeforeTheyStart) {
  Fixture f;
  f.Add(10, 20);
  f.builder.AddHostCall("second", 30, 40);
  f.builder.AddHostCall("first", 20, 10);
  f.builder.AddHostCall("third", 30, 35);
  const Trace trace = f.Finish();
  std::vector<std::string> calls;
  for (const HostCall& call : trace.host_calls) {
    calls.push_back(std::string(trace.strings.Get(call.name)) + " " +
                    std::to_string((call.end - call.start).count()));
  }
  EXPECT_THAT(calls, ElementsAre("first 0", "second 10", "third 5"));
}

TEST(TraceBuilder, TakesOneGridForAllKernelsForNone) {
  const auto build = [](std::size_t kernels) {
    TraceBuilder builder("test", "memory");
    const GeometryId shape = builder.AddGeometry({.grid = {1, 1, 1}, .block = {256, 1, 1}});
    const LaneId lane = builder.AddLane(0, std::nullopt, 1);
    for (std::size_t i = 0; i < kernels; ++i) {
      const auto at = static_cast<std::int64_t>(10 * i + 1);
      builder.AddDispatch(at, at + 5, builder.AddKernel("k" + std::to_string(i)), shape, lane);
    }
    return std::move(builder).Finish().value();
  };
  EXPECT_FALSE(build(8).geometries.front().known());
  EXPECT_EQ(build(8).diagnostics.count(base::Finding::kShapesMissing), 1);
  EXPECT_TRUE(build(7).geometries.front().known()) << "a small program may launch one shape";
}

}  // namespace
}  // namespace culprit::trace
