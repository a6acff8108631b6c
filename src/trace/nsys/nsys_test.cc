#include "trace/nsys/nsys.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "sys/sample_files.h"
#include "trace/registry.h"

namespace culprit::trace::nsys {
namespace {

using base::ErrorCode;
using base::Finding;
using sys::MakeDatabase;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// As nsys 2023.2 exports it, without the columns that nobody reads.
const std::string kSchema = R"(
  CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
  CREATE TABLE TARGET_INFO_GPU (vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT);
  CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL,
    deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL, streamId INTEGER NOT NULL,
    correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL,
    shortName INTEGER NOT NULL, mangledName INTEGER, gridX INTEGER NOT NULL,
    gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL, blockX INTEGER NOT NULL,
    blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL, graphNodeId INTEGER);
  CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL,
    deviceId INTEGER NOT NULL, streamId INTEGER NOT NULL, globalPid INTEGER,
    bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL);
  CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER NOT NULL, end INTEGER NOT NULL,
    deviceId INTEGER NOT NULL, streamId INTEGER NOT NULL, globalPid INTEGER,
    value INTEGER NOT NULL);
  CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL,
    globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL);
  CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER NOT NULL, end INTEGER NOT NULL,
    deviceId INTEGER NOT NULL, streamId INTEGER NOT NULL, globalPid INTEGER,
    graphId INTEGER NOT NULL, graphExecId INTEGER NOT NULL);
  INSERT INTO TARGET_INFO_GPU VALUES (0, 1, 'NVIDIA H200'), (0, 0, 'NVIDIA H200');
  INSERT INTO StringIds VALUES (1, 'void rms_norm_f32<(int)1024>(const float *, float *)'),
    (2, 'rms_norm_f32'), (3, 'cudaLaunchKernel_v7000'), (4, 'not used');
)";

// Two processes' ids as nsys writes them: pid 77 and 78.
constexpr std::int64_t kPid77 = (std::int64_t{1} << 48) + (77 << 24);
constexpr std::int64_t kPid78 = (std::int64_t{1} << 48) + (78 << 24);

std::string Kernel(int start, int end, std::int64_t global_pid = kPid77, int name = 1) {
  return fmt::format(
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES "
      "({},{},0,1,7,9,{},{},2,NULL,96,2,1,256,1,1,NULL);",
      start, end, global_pid, name);
}

base::Result<Trace> ReadRows(const std::string& rows, const ReadOptions& options = {}) {
  return Read(sys::Source::FromMemory("t.sqlite", MakeDatabase(kSchema + rows)), options);
}

std::vector<std::string> Dump(const base::Result<Trace>& trace) {
  if (!trace) return {trace.error().Text()};
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < trace->size(); ++i) {
    const Geometry& g = trace->geometries[trace->geometry[i].index()];
    const Lane& lane = trace->lanes[trace->lane[i].index()];
    lines.push_back(fmt::format(
        "{}-{} {} {},{},{}/{},{},{} {} stream {}", trace->start[i].time_since_epoch().count(),
        trace->end[i].time_since_epoch().count(), trace->kernel_name(trace->kernel[i]), g.grid.x,
        g.grid.y, g.grid.z, g.block.x, g.block.y, g.block.z,
        trace->devices[lane.device.index()].name, lane.stream.value_or(-1)));
  }
  return lines;
}

std::vector<std::string> Findings(const base::Result<Trace>& trace) {
  if (!trace) return {trace.error().Text()};
  std::vector<std::string> lines;
  for (const auto& [finding, count, example] : trace->diagnostics.entries()) {
    lines.push_back(fmt::format("{} {} {}", base::Describe(finding).id, count, example));
  }
  return lines;
}

TEST(NsysReader, ReadsKernelsWithGridsInBlocks) {
  const auto trace = ReadRows(Kernel(100, 200));
  EXPECT_THAT(Dump(trace),
              ElementsAre("100-200 void rms_norm_f32<(int)1024>(const float *, float *) "
                          "96,2,1/256,1,1 NVIDIA H200 stream 7"));
  EXPECT_THAT(Findings(trace), ElementsAre());
  EXPECT_EQ(trace->clock, NamedClock::kSession);
  EXPECT_EQ(trace->lanes[0].process, 77);
}

TEST(NsysReader, CopiesAndFillsAreDispatchesOfTheirOwnKind) {
  const auto trace =
      ReadRows(Kernel(100, 200) + fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES "
                                              "(300,310,0,7,{0},4096,1),(320,330,0,8,{0},1,13);"
                                              "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES "
                                              "(340,350,0,7,{0},0);",
                                              kPid77));
  ASSERT_EQ(trace->size(), 4u);
  EXPECT_EQ(Dump(trace)[1], "300-310 Memcpy HtoD 0,0,0/0,0,0 NVIDIA H200 stream 7");
  EXPECT_EQ(Dump(trace)[2], "320-330 Unified memcpy DtoD 0,0,0/0,0,0 NVIDIA H200 stream 8");
  EXPECT_EQ(Dump(trace)[3], "340-350 Memset 0,0,0/0,0,0 NVIDIA H200 stream 7");
  const auto kind = [&](std::size_t i) { return trace->kernels[trace->kernel[i].index()].kind; };
  EXPECT_EQ(kind(0), WorkKind::kKernel);
  EXPECT_EQ(kind(1), WorkKind::kCopy);
  EXPECT_EQ(kind(3), WorkKind::kFill);
}

TEST(NsysReader, RuntimeCallsAreHostCalls) {
  const auto trace = ReadRows(Kernel(100, 200) +
                              "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES "
                              "(90,95,NULL,9,3),(50,60,NULL,8,3);");
  ASSERT_EQ(trace->host_calls.size(), 2u);
  EXPECT_EQ(trace->strings.Get(trace->host_calls[0].name), "cudaLaunchKernel_v7000");
  EXPECT_EQ(trace->host_calls[0].start.time_since_epoch().count(), 50);
  EXPECT_EQ(trace->host_calls[1].end.time_since_epoch().count(), 95);
}

constexpr const char* kGraphLaunches =
    "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (300,400,0,7,NULL,5,6),"
    "(400,500,0,7,NULL,5,6);";

TEST(NsysReader, RefusesGraphsWithoutAnyKernel) {
  const auto trace = ReadRows(kGraphLaunches);
  ASSERT_FALSE(trace.has_value());
  EXPECT_EQ(trace.error().code, ErrorCode::kUnsupportedTrace);
  EXPECT_EQ(trace.error().Text(),
            "t.sqlite: holds CUDA graph launches without the kernels inside them; trace again with "
            "nsys profile --cuda-graph-trace=node");
}

TEST(NsysReader, GraphsBesideKernelsAreDispatchesAndAFinding) {
  const auto trace = ReadRows(Kernel(100, 200) + kGraphLaunches);
  ASSERT_EQ(trace->size(), 3u);
  EXPECT_EQ(Dump(trace)[1], "300-400 CUDA graph 5 0,0,0/0,0,0 NVIDIA H200 stream 7");
  EXPECT_EQ(trace->kernels[trace->kernel[1].index()].kind, WorkKind::kGraph);
  EXPECT_THAT(Findings(trace), ElementsAre("graph_without_nodes 2 "));
}

TEST(NsysReader, SaysWhenThereAreNoKernels) {
  EXPECT_THAT(Dump(ReadRows("")),
              ElementsAre("t.sqlite: is an nsys export without GPU kernels; trace again with nsys "
                          "profile --trace=cuda"));
}

TEST(NsysReader, ReadsASchemaWithFewerColumns) {
  const auto trace =
      Read(sys::Source::FromMemory(
               "old.sqlite",
               MakeDatabase("CREATE TABLE StringIds (id INTEGER, value TEXT);"
                            "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (shortName INTEGER,"
                            "  \"end\" INTEGER, start INTEGER, deviceId INTEGER);"
                            "INSERT INTO StringIds VALUES (5, 'k');"
                            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (5, 200, 100, 3);")),
           {});
  EXPECT_THAT(Dump(trace), ElementsAre("100-200 k 0,0,0/0,0,0 device 3 stream -1"));
}

TEST(NsysReader, NamesTheColumnThatIsMissing) {
  const std::string bytes = MakeDatabase(
      "CREATE TABLE StringIds (id, value); CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start);");
  EXPECT_THAT(Dump(Read(sys::Source::FromMemory("t.sqlite", bytes), {})),
              ElementsAre("t.sqlite: CUPTI_ACTIVITY_KIND_KERNEL lacks the column end; export it "
                          "again with nsys export --type sqlite"));
}

TEST(NsysReader, CountsKernelsWithoutAName) {
  const auto trace = ReadRows(Kernel(100, 200, kPid77, 99) + Kernel(300, 400, kPid77, 99));
  EXPECT_EQ(trace->kernel_name(trace->kernel[0]), "unknown kernel 99");
  EXPECT_THAT(Findings(trace), ElementsAre("unknown_kernel 2 "));
}

TEST(NsysReader, TellsProcessesApartAndReadsOneOfThem) {
  const std::string rows = Kernel(100, 200, kPid77) + Kernel(150, 250, kPid78);
  const auto both = ReadRows(rows);
  ASSERT_EQ(both->lanes.size(), 2u);
  EXPECT_EQ(both->lanes[0].process, 77);
  EXPECT_EQ(both->lanes[1].process, 78);
  EXPECT_THAT(Findings(both), ElementsAre("several_processes 2 "));
  ReadOptions one;
  one.process = 78;
  const auto trace = ReadRows(rows, one);
  EXPECT_EQ(trace->size(), 1u);
  EXPECT_THAT(Findings(trace), ElementsAre());
}

TEST(NsysReader, KeepsHostileValues) {
  const std::string name = std::string(64 * 1024, 'x') + "\x1b[2J<script>\xff''; DROP TABLE t";
  const auto trace =
      ReadRows("INSERT INTO StringIds VALUES (9, '" + name + "');" + Kernel(100, 200, -1, 9) +
               "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ('a',x'00',-9,1,-8,9,NULL,1,2,NULL,"
               "-1,1e300,'b',99999999999,1,1,NULL);"
               "CREATE VIEW CUPTI_ACTIVITY_KIND_DRIVER AS SELECT 1 AS start;");
  ASSERT_TRUE(trace.has_value()) << trace.error().Text();
  EXPECT_EQ(trace->size(), 1u);
  EXPECT_THAT(trace->kernel_name(trace->kernel[0]), HasSubstr("<script>\xff'; DROP TABLE t"));
  EXPECT_THAT(Findings(trace), ElementsAre("zero_stamps 1 "));
}

// Cut anywhere, a database gives an error or says that it was cut.
TEST(NsysReader, NeverTakesATornFileForAWholeOne) {
  std::string rows;
  for (int i = 1; i <= 400; ++i) rows += Kernel(i * 10, i * 10 + 5);
  const std::string whole = MakeDatabase(kSchema + rows);
  std::size_t most = 0;
  for (std::size_t cut = 0; cut < whole.size(); cut += 512) {
    const auto trace = Read(sys::Source::FromMemory("t.sqlite", whole.substr(0, cut)), {});
    if (!trace) continue;
    EXPECT_TRUE(trace->diagnostics.Has(Finding::kTruncatedFile)) << cut;
    most = std::max(most, trace->size());
  }
  EXPECT_LT(most, 400u);
}

TEST(NsysSniff, KnowsExportsByTheirTables) {
  const auto mine = [](const std::string& bytes) {
    return std::holds_alternative<Mine>(Sniff(sys::Source::FromMemory("t.sqlite", bytes)));
  };
  EXPECT_TRUE(mine(MakeDatabase(kSchema)));
  EXPECT_TRUE(
      mine(MakeDatabase("CREATE TABLE StringIds (id, value); CREATE TABLE TARGET_INFO_GPU (id);")));
  EXPECT_FALSE(
      mine(MakeDatabase("CREATE TABLE StringTable (id, value);"
                        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end);")));
  EXPECT_FALSE(mine(MakeDatabase("CREATE TABLE rocpd_metadata (tag, value);")));
  EXPECT_FALSE(mine(std::string("SQLite format 3\0 and then nothing", 34)));
  EXPECT_FALSE(mine("{}"));
}

TEST(NsysSamples, ReadsARealExport) {
  const char* folder = std::getenv("CULPRIT_SAMPLES");
  const std::filesystem::path path =
      std::filesystem::path(folder ? folder : CULPRIT_SOURCE_DIR "/../shared/samples") /
      "public-no-licence/nsys_report1_memfusion.sqlite";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no sample file " << path;
  const auto trace = ReadTrace(path.string());
  ASSERT_TRUE(trace.has_value()) << trace.error().Text();
  std::size_t kernels = 0;
  for (const KernelId id : trace->kernel) {
    kernels += trace->kernels[id.index()].kind == WorkKind::kKernel;
  }
  EXPECT_EQ(kernels, 36u);
  EXPECT_EQ(trace->size(), 40u);  // and four copies
  EXPECT_EQ(trace->host_calls.size(), 5668u);
  EXPECT_EQ(trace->devices[0].name, "NVIDIA GeForce RTX 3090");
  EXPECT_EQ(trace->start[0].time_since_epoch().count(), 19'369'956);
  EXPECT_FALSE(trace->diagnostics.Has(Finding::kUnknownKernel));
}

}  // namespace
}  // namespace culprit::trace::nsys
