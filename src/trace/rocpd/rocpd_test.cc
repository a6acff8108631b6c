#include "trace/rocpd/rocpd.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include "sys/sample_files.h"

namespace culprit::trace::rocpd {
namespace {

using base::Finding;
using sys::MakeDatabase;
using testing::ElementsAre;
using testing::HasSubstr;

std::string Slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string Fixture(const std::string& name) {
  return Slurp(CULPRIT_SOURCE_DIR "/tests/fixtures/rocpd/" + name);
}

std::string Replaced(std::string text, std::string_view what, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

base::Result<Trace> ReadSql(const std::string& sql, const ReadOptions& options = {}) {
  return Read(sys::Source::FromMemory("t.db", MakeDatabase(sql)), options);
}

std::string ToText(const std::optional<std::int64_t>& number) {
  return number ? std::to_string(*number) : "-";
}

// A dispatch a line: start end kernel [grid/block] device:queue:stream:process.
std::vector<std::string> Lines(const Trace& trace) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const Geometry& g = trace.geometries[trace.geometry[i].index()];
    const Lane& lane = trace.lanes[trace.lane[i].index()];
    lines.push_back(fmt::format(
        "{} {} {}{} [{}x{}x{}/{}x{}x{}] {}:{}:{}:{}", trace.start[i].time_since_epoch().count(),
        trace.end[i].time_since_epoch().count(),
        trace.kernels[trace.kernel[i].index()].kind == WorkKind::kCopy ? "copy " : "",
        trace.kernel_name(trace.kernel[i]), g.grid.x, g.grid.y, g.grid.z, g.block.x, g.block.y,
        g.block.z, trace.devices[lane.device.index()].name, ToText(lane.queue), ToText(lane.stream),
        ToText(lane.process)));
  }
  return lines;
}

std::vector<std::string> Findings(const Trace& trace) {
  std::vector<std::string> found;
  for (const auto& entry : trace.diagnostics.entries())
    found.push_back(fmt::format("{} {}", base::Describe(entry.finding).id, entry.count));
  return found;
}

bool LostData(const Trace& trace) { return trace.diagnostics.worst() >= base::Severity::kDataLoss; }

TEST(RocpdReader, ReadsKernelsCopiesAndHostCallsOfSchema3) {
  const auto trace = ReadSql(Fixture("schema_3_0_0.sql"));
  ASSERT_TRUE(trace) << trace.error().Text();
  EXPECT_EQ(trace->format, "rocpd 3");
  EXPECT_EQ(trace->clock, NamedClock::kBoottime);
  EXPECT_THAT(
      Lines(*trace),
      ElementsAre(
          "900 950 copy MEMORY_COPY_HOST_TO_DEVICE [0x0x0/0x0x0] gfx1151:5:1:4711",
          "1000 1100 scale(float*, float) [4x2x1/256x1x1] gfx1151:5:1:4711",
          "1200 1300 void mul_mat<(ggml_type)12>(void const*) [152x1x1/32x4x1] gfx1151:5:1:4711",
          "1400 1500 unknown_kernel [0x0x0/0x0x0] gfx1151:5:-:4711",
          "1600 1650 copy MEMORY_COPY_DEVICE_TO_HOST [0x0x0/0x0x0] gfx1151:5:1:4711"));
  ASSERT_EQ(trace->host_calls.size(), 1u);
  EXPECT_EQ(trace->strings.Get(trace->host_calls[0].name), "hipStreamSynchronize");
  EXPECT_THAT(Findings(*trace),
              ElementsAre("out_of_order 1", "unknown_kernel 1", "unsupported_records 2"));
}

TEST(RocpdReader, CountsGraphLaunchesWithoutTheirNodes) {
  const auto trace = ReadSql(Fixture("schema_3_0_2.sql"));
  ASSERT_TRUE(trace) << trace.error().Text();
  EXPECT_EQ(trace->format, "rocpd 3.0.2");
  EXPECT_THAT(Lines(*trace), ElementsAre("10 20 add(float*) [10x1x1/64x1x1] gfx942:3:2:5",
                                         "30 40 add(float*) [10x1x1/64x1x1] gfx942:3:2:5"));
  EXPECT_THAT(Findings(*trace), ElementsAre("graph_without_nodes 1"));
}

TEST(RocpdReader, FindsThePlaceByTheTrackInSchema4) {
  const auto trace = ReadSql(Fixture("schema_4.sql"));
  ASSERT_TRUE(trace) << trace.error().Text();
  EXPECT_EQ(trace->format, "rocpd 4.0.0");
  EXPECT_THAT(Lines(*trace),
              ElementsAre("10 20 triton_poi_fused_add [2x1x1/64x1x1] gfx950:6:3:900",
                          "15 30 triton_poi_fused_add [2x1x1/64x1x1] gfx950:6:4:900"));
  EXPECT_THAT(Findings(*trace), ElementsAre());
}

TEST(RocpdReader, KeepsTheIdsOfDifferentWritersApart) {
  const auto trace = ReadSql(Fixture("two_uuids.sql"));
  ASSERT_TRUE(trace) << trace.error().Text();
  EXPECT_THAT(Lines(*trace), ElementsAre("10 20 kernel_of_a [0x0x0/0x0x0] gfx942:1:1:100",
                                         "12 22 kernel_of_b [0x0x0/0x0x0] gfx942:1:1:200",
                                         "30 40 kernel_of_a [0x0x0/0x0x0] gfx942:1:1:100",
                                         "32 42 kernel_of_b [0x0x0/0x0x0] gfx942:1:1:200"));
  EXPECT_EQ(trace->devices.size(), 1u);
  EXPECT_THAT(Findings(*trace), ElementsAre("several_processes 2", "out_of_order 1"));
}

TEST(RocpdReader, JoinsOnIdAndGuid) {
  const auto trace = ReadSql(Fixture("two_guids_in_a_table.sql"));
  ASSERT_TRUE(trace) << trace.error().Text();
  EXPECT_THAT(Lines(*trace), ElementsAre("10 20 kernel_of_a [0x0x0/0x0x0] gfx942:1:1:100",
                                         "12 22 kernel_of_b [0x0x0/0x0x0] gfx942:1:1:200"));
  EXPECT_EQ(trace->devices.size(), 2u);
}

TEST(RocpdReader, ReadsOneProcessOnRequest) {
  ReadOptions options;
  options.process = 200;
  const auto trace = ReadSql(Fixture("two_uuids.sql"), options);
  ASSERT_TRUE(trace) << trace.error().Text();
  EXPECT_THAT(Lines(*trace), ElementsAre("12 22 kernel_of_b [0x0x0/0x0x0] gfx942:1:1:200",
                                         "32 42 kernel_of_b [0x0x0/0x0x0] gfx942:1:1:200"));
  EXPECT_THAT(Findings(*trace), ElementsAre());
  options.process = 7;
  const auto none = ReadSql(Fixture("two_uuids.sql"), options);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().Text(), "t.db: holds no dispatch of process 7; it has pids 100, 200");
}

TEST(RocpdReader, NotesThatTheViewsAreMissing) {
  const auto trace = ReadSql(Fixture("schema_3_0_2.sql") +
                             "DROP VIEW rocpd_kernel_dispatch; DROP TABLE rocpd_graph_launch_x;");
  ASSERT_TRUE(trace) << trace.error().Text();
  EXPECT_EQ(trace->size(), 2u);
  EXPECT_THAT(Findings(*trace), ElementsAre("missing_views 1"));
}

TEST(RocpdReader, CountsGapsRepetitionsAndSwappedStamps) {
  const auto trace = ReadSql(Fixture("schema_3_0_0.sql") +
                             R"(UPDATE rocpd_kernel_dispatch_0a_1b SET dispatch_id = 9 WHERE id = 3;
         INSERT INTO rocpd_kernel_dispatch_0a_1b SELECT 4, guid, nid, pid, tid, agent_id, kernel_id,
           dispatch_id, queue_id, stream_id, start, "end", 0, 0, workgroup_size_x, workgroup_size_y,
           workgroup_size_z, grid_size_x, grid_size_y, grid_size_z, 1, 1, '{}'
           FROM rocpd_kernel_dispatch_0a_1b WHERE id = 1;
         UPDATE rocpd_kernel_dispatch_0a_1b SET start = 1300, "end" = 1200 WHERE id = 2;
         DELETE FROM rocpd_memory_copy_0a_1b; DELETE FROM rocpd_region_0a_1b;)");
  ASSERT_TRUE(trace) << trace.error().Text();
  EXPECT_EQ(trace->size(), 3u);
  EXPECT_THAT(Findings(*trace),
              ElementsAre("end_before_start 1", "out_of_order 1", "missing_dispatch_ids 6",
                          "duplicate_dispatches 1", "unknown_kernel 1"));
}

TEST(RocpdReader, RefusesATraceWithoutStamps) {
  const auto trace = ReadSql(Fixture("schema_3_0_2.sql") +
                             "UPDATE rocpd_kernel_dispatch_x SET start = 0, \"end\" = 0;");
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().code, base::ErrorCode::kDamagedTrace);
  EXPECT_THAT(trace.error().message, HasSubstr("every dispatch starts and ends at 0"));
}

TEST(RocpdReader, ReadsValuesOfUnexpectedKinds) {
  const auto trace =
      ReadSql(Fixture("schema_3_0_2.sql") +
              R"(UPDATE rocpd_kernel_dispatch_x SET queue_id = 18446744073709551615, agent_id = 'x',
           grid_size_x = -5, workgroup_size_y = 99999999999, kernel_id = NULL WHERE id = 2;
         DELETE FROM rocpd_graph_launch_x;)");
  ASSERT_TRUE(trace) << trace.error().Text();
  EXPECT_THAT(
      Lines(*trace),
      ElementsAre("10 20 add(float*) [10x1x1/64x1x1] gfx942:3:2:5",
                  "30 40 unknown_kernel [0x0x0/0x0x0] unknown device 0:9223372036854775807:2:5"));
}

TEST(RocpdReader, SaysWhichColumnIsMissing) {
  const auto trace = ReadSql(Fixture("schema_3_0_2.sql") +
                             "ALTER TABLE rocpd_kernel_dispatch_x RENAME COLUMN start TO begin;");
  ASSERT_FALSE(trace);
  EXPECT_EQ(trace.error().code, base::ErrorCode::kDamagedTrace);
  EXPECT_THAT(trace.error().message, HasSubstr("no column \"start\""));
}

TEST(RocpdReader, KeepsHostileNamesAsTheyAre) {
  const std::string hostile[] = {"\x1b[31mred",        "<script>alert(1)</script>",
                                 "a,\"b\";'c'",        std::string(64 * 1024, 'k'),
                                 "bad \xff\xfe utf-8", "Robert'); DROP TABLE x; --"};
  for (const std::string& name : hostile) {
    std::string hex;
    for (const char c : name) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
    const auto trace = ReadSql(Fixture("schema_3_0_2.sql") +
                               "UPDATE rocpd_info_kernel_symbol_x SET kernel_name = CAST(x'" + hex +
                               "' AS TEXT);");
    ASSERT_TRUE(trace) << trace.error().Text();
    EXPECT_EQ(trace->kernel_name(trace->kernel[0]), name);
  }
}

TEST(RocpdReader, QuotesTheNamesOfTables) {
  std::string sql = Fixture("schema_3_0_2.sql");
  for (const char* table :
       {"metadata", "info_agent", "info_kernel_symbol", "kernel_dispatch", "graph_launch"}) {
    const std::string name = std::string("rocpd_") + table;
    sql = Replaced(sql, name + "_x", "\"" + name + "_'; DROP\"\"x\"");
  }
  const auto trace = ReadSql(sql);
  ASSERT_TRUE(trace) << trace.error().Text();
  EXPECT_EQ(trace->size(), 2u);
}

TEST(RocpdReader, LetsNothingPersonalOut) {
  const auto trace = ReadSql(Fixture("schema_3_0_0.sql"));
  ASSERT_TRUE(trace);
  std::string all = trace->format + trace->path;
  for (std::size_t i = 0; i < trace->strings.size(); ++i)
    all += trace->strings.Get(base::StringId(i));
  for (const Device& device : trace->devices) all += device.name;
  for (const auto& entry : trace->diagnostics.entries()) all += entry.example;
  EXPECT_THAT(all, testing::Not(HasSubstr("secret")));
}

TEST(RocpdReader, KnowsItsFilesByTheirTables) {
  const auto verdict = [](const std::string& bytes) {
    return Sniff(sys::Source::FromMemory("f", bytes));
  };
  for (const char* name : {"schema_3_0_0.sql", "schema_4.sql", "two_guids_in_a_table.sql"})
    EXPECT_TRUE(std::holds_alternative<Mine>(verdict(MakeDatabase(Fixture(name))))) << name;
  const auto rpd =
      verdict(MakeDatabase("CREATE TABLE rocpd_op(id); CREATE TABLE rocpd_string(id)"));
  ASSERT_TRUE(std::holds_alternative<Refused>(rpd));
  EXPECT_THAT(std::get<Refused>(rpd).error.message, HasSubstr("RPD"));
  const auto v1 = verdict(MakeDatabase("CREATE TABLE KERN(a)"));
  ASSERT_TRUE(std::holds_alternative<Refused>(v1));
  EXPECT_THAT(std::get<Refused>(v1).error.message, HasSubstr("rocprof v1"));
  EXPECT_TRUE(std::holds_alternative<NotMine>(verdict(MakeDatabase("CREATE TABLE t(a)"))));
  EXPECT_TRUE(std::holds_alternative<NotMine>(verdict("Kind,Agent_Id")));
}

// A file large enough for several pages of each kind: 4,000 dispatches.
std::string ManyDispatches() {
  return Fixture("schema_3_0_2.sql") +
         R"(DELETE FROM rocpd_graph_launch_x; DELETE FROM rocpd_kernel_dispatch_x;
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000)
              INSERT INTO rocpd_kernel_dispatch_x SELECT i, 'a guid of thirty-six characters....', 5,
                1, 1, i, 3, 2, 7, i, i * 100, i * 100 + 50, 64, 1, 1, 64 * (i % 9 + 1), 1, 1 FROM n;)";
}

TEST(RocpdReader, NeverTakesATornFileForAWholeOne) {
  const std::string whole = MakeDatabase(ManyDispatches());
  ASSERT_EQ(Read(sys::Source::FromMemory("t", whole), {})->size(), 4000u);
  std::set<std::size_t> cuts;
  for (std::size_t size = 0; size < whole.size(); size += 4096) cuts.insert(size);
  std::mt19937 random(7);
  for (int i = 0; i < 40; ++i) cuts.insert(random() % whole.size());
  std::size_t most = 0;
  for (const std::size_t size : cuts) {
    const auto trace = Read(sys::Source::FromMemory("t", whole.substr(0, size)), {});
    if (!trace) continue;
    EXPECT_TRUE(LostData(*trace)) << size;
    most = std::max(most, trace->size());
  }
  EXPECT_GT(most, 3000u);
}

TEST(RocpdReader, SaysHowManyDispatchesATornFileHas) {
  // An AUTOINCREMENT table promises its rows in sqlite_sequence, early in the file.
  const std::string sql =
      Replaced(ManyDispatches(), "rocpd_kernel_dispatch_x (id INTEGER PRIMARY KEY",
               "rocpd_kernel_dispatch_x (id INTEGER PRIMARY KEY AUTOINCREMENT");
  const std::string whole = MakeDatabase(sql);
  const auto trace = Read(sys::Source::FromMemory("t", whole.substr(0, whole.size() / 2)), {});
  ASSERT_TRUE(trace) << trace.error().Text();
  const auto entries = trace->diagnostics.entries();
  ASSERT_FALSE(entries.empty());
  EXPECT_EQ(entries[0].finding, Finding::kTruncatedFile);
  EXPECT_THAT(entries[0].example,
              HasSubstr(fmt::format("{} of 4000 dispatches were read", trace->size())));
}

TEST(RocpdReader, FindsDamageOutsideTheDispatchesOnlyWhenAsked) {
  std::string bytes = MakeDatabase(Fixture("schema_3_0_0.sql") +
                                   "CREATE TABLE extra(a); INSERT INTO extra VALUES('needle');");
  bytes[bytes.find("needle") - 4] = '\x7f';
  const auto quick = Read(sys::Source::FromMemory("t", bytes), {});
  ASSERT_TRUE(quick);
  EXPECT_FALSE(LostData(*quick));
  ReadOptions options;
  options.full_check = true;
  const auto full = Read(sys::Source::FromMemory("t", bytes), options);
  ASSERT_TRUE(full);
  EXPECT_TRUE(full->diagnostics.Has(Finding::kQuickCheckFailed));
}

std::string Samples() {
  const char* folder = std::getenv("CULPRIT_SAMPLES");
  return folder != nullptr ? folder : CULPRIT_SOURCE_DIR "/../shared/samples";
}

// A recording large enough that each part has thousands of rows. ThreadSanitizer watches it too.
TEST(RocpdReader, SeveralThreadsReadWhatTheFileHolds) {
  const std::string path = CULPRIT_SOURCE_DIR "/tests/fixtures/h200-20k/f16/results.db.xz";
  const auto first = Read(sys::Source::Open(path).value(), {});
  const auto second = Read(sys::Source::Open(path).value(), {});
  ASSERT_TRUE(first && second);
  EXPECT_GT(first->size(), 50'000u);
  EXPECT_TRUE(std::is_sorted(first->start.begin(), first->start.end()));
  EXPECT_FALSE(LostData(*first));
  EXPECT_EQ(first->start, second->start);
  EXPECT_EQ(first->end, second->end);
  EXPECT_EQ(first->kernel, second->kernel);
  EXPECT_EQ(first->geometry, second->geometry);
}

TEST(RocpdReader, ReadsTheMi300xSample) {
  const std::string path = Samples() + "/public-no-licence/rocpd_mi300x_ck_bmm_28_results.db";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "the MI300X sample is not here: " << path;
  const auto trace = Read(sys::Source::Open(path).value(), {});
  ASSERT_TRUE(trace) << trace.error().Text();
  EXPECT_EQ(trace->size(), 151u);
  EXPECT_EQ(trace->devices.size(), 1u);
  EXPECT_EQ(trace->devices[0].name, "gfx942");
  EXPECT_EQ(trace->kernels.size(), 2u);
  EXPECT_THAT(Findings(*trace), ElementsAre("same_lane_overlap 5", "unsupported_records 617"));
}

TEST(RocpdReader, ReadsTheH200Samples) {
  const std::pair<const char*, std::size_t> samples[] = {
      {"f16", 317363}, {"nofa", 337379}, {"q4", 385643}, {"spec", 183650}};
  for (const auto& [name, dispatches] : samples) {
    const std::string path = Samples() + "/h200-20k/" + name + "/results.db.xz";
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "the H200 samples are not here: " << path;
    const auto trace = Read(sys::Source::Open(path).value(), {});
    ASSERT_TRUE(trace) << trace.error().Text();
    EXPECT_EQ(trace->size(), dispatches) << name;
    EXPECT_FALSE(LostData(*trace)) << name;
  }
}

}  // namespace
}  // namespace culprit::trace::rocpd
