#include "trace/rocprof_json/rocprof_json.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "trace/registry.h"

namespace culprit::trace::rocprof_json {
namespace {

using base::ErrorCode;
using base::Finding;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// The parts of a process. Two dispatches (the second before the first), one copy, one HIP call.
constexpr const char* kMetadata = R"("metadata":{"node":{"id":0},"pid":908,"command":["server"]})";
constexpr const char* kAgents = R"("agents":[
  {"id":{"handle":100},"type":1,"name":"EPYC","node_id":0},
  {"id":{"handle":102},"type":2,"name":"gfx950","product_name":"MI350X","node_id":2}])";
constexpr const char* kStrings = R"("strings":{"buffer_records":[
  {"kind":"NONE","operations":[]},
  {"kind":"HIP_RUNTIME_API","operations":["hipApiName","hipLaunchKernel"]},
  {"kind":"MEMORY_COPY","operations":["MEMORY_COPY_NONE","MEMORY_COPY_HOST_TO_DEVICE"]}]})";
constexpr const char* kSymbols = R"("kernel_symbols":[
  {"kernel_id":0,"kernel_name":"","demangled_kernel_name":"0"},
  {"kernel_id":7,"kernel_name":"_Z3addPf.kd","demangled_kernel_name":"add(float*) [clone .kd]",
   "truncated_kernel_name":"add.kd"},
  {"kernel_id":8,"kernel_name":"_Z3mulPf.kd","demangled_kernel_name":""}])";
constexpr const char* kDispatch1 =
    R"({"kind":11,"operation":2,"start_timestamp":2000,"end_timestamp":2500,
  "dispatch_info":{"agent_id":{"handle":102},"queue_id":{"handle":16},"kernel_id":7,
  "dispatch_id":2,"workgroup_size":{"x":256,"y":1,"z":1},"grid_size":{"x":1000,"y":2,"z":1}},
  "stream_id":{"handle":5}})";
constexpr const char* kDispatch2 =
    R"({"kind":11,"operation":2,"start_timestamp":1000,"end_timestamp":1600,
  "dispatch_info":{"agent_id":{"handle":102},"queue_id":{"handle":16},"kernel_id":8,
  "dispatch_id":1,"workgroup_size":{"x":64,"y":2,"z":1},"grid_size":{"x":64,"y":4,"z":3}},
  "stream_id":{"handle":5}})";
constexpr const char* kCopy =
    R"({"kind":2,"operation":1,"start_timestamp":100,"end_timestamp":200,
  "dst_agent_id":{"handle":102},"src_agent_id":{"handle":100},"bytes":64,
  "stream_id":{"handle":5}})";
constexpr const char* kCall =
    R"({"kind":1,"operation":1,"start_timestamp":900,"end_timestamp":950,"thread_id":1})";

std::string Records() {
  return fmt::format(
      R"("buffer_records":{{"kernel_dispatch":[{},{}],"hip_api":[{}],"memory_copy":[{}]}})",
      kDispatch1, kDispatch2, kCall, kCopy);
}

std::string Document(const std::vector<std::string>& parts) {
  return fmt::format(R"({{"rocprofiler-sdk-tool":[{{{}}}]}})", fmt::join(parts, ","));
}

std::string Whole() { return Document({kMetadata, kAgents, kStrings, kSymbols, Records()}); }

// WithDispatch is a document whose second dispatch is given.
std::string WithDispatch(const std::string& dispatch) {
  return Document(
      {kMetadata, kAgents, kSymbols,
       fmt::format(R"("buffer_records":{{"kernel_dispatch":[{},{}]}})", kDispatch1, dispatch)});
}

std::string Replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

base::Result<Trace> ReadText(std::string text, const ReadOptions& options = {}) {
  return ReadTrace(sys::Source::FromMemory("x_results.json", std::move(text)), options);
}

// Lines writes a dispatch as "start-end name grid/block device:stream".
std::vector<std::string> Lines(const Trace& trace) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const Geometry& g = trace.geometries[trace.geometry[i].index()];
    const Lane& lane = trace.lanes[trace.lane[i].index()];
    const Device& device = trace.devices[lane.device.index()];
    lines.push_back(fmt::format(
        "{}-{} {} {},{},{}/{},{},{} {} {}:{}", trace.start[i].time_since_epoch().count(),
        trace.end[i].time_since_epoch().count(), trace.kernel_name(trace.kernel[i]), g.grid.x,
        g.grid.y, g.grid.z, g.block.x, g.block.y, g.block.z, device.name, device.number,
        lane.stream.value_or(-1)));
  }
  return lines;
}

std::vector<std::string> Findings(const Trace& trace) {
  std::vector<std::string> lines;
  for (const auto& entry : trace.diagnostics.entries()) {
    lines.push_back(
        fmt::format("{} {}: {}", base::Describe(entry.finding).id, entry.count, entry.example));
  }
  return lines;
}

TEST(RocprofJson, ReadsDispatchesCopiesAndHipCalls) {
  const auto trace = ReadText(Whole());
  ASSERT_TRUE(trace) << trace.error().Text();
  EXPECT_THAT(Lines(*trace),
              ElementsAre("100-200 MEMORY_COPY_HOST_TO_DEVICE 0,0,0/0,0,0 gfx950 2:5",
                          "1000-1600 mul(float*) 1,2,3/64,2,1 gfx950 2:5",
                          "2000-2500 add(float*) 4,2,1/256,1,1 gfx950 2:5"));
  EXPECT_EQ(trace->kernels[trace->kernel[0].index()].kind, WorkKind::kCopy);
  EXPECT_EQ(trace->kernels[trace->kernel[1].index()].kind, WorkKind::kKernel);
  ASSERT_EQ(trace->host_calls.size(), 1u);
  EXPECT_EQ(trace->strings.Get(trace->host_calls[0].name), "hipLaunchKernel");
  EXPECT_EQ(trace->host_calls[0].end - trace->host_calls[0].start, base::Nanos(50));
  EXPECT_EQ(trace->clock, NamedClock::kBoottime);
  EXPECT_EQ(trace->format, "rocprofv3 JSON");
  EXPECT_THAT(Findings(*trace), ElementsAre("out_of_order 2: "));
}

TEST(RocprofJson, ReadsTheSameWhateverTheOrderOfKeys) {
  const auto expected = ReadText(Whole());
  std::vector<std::string> parts = {kMetadata, kAgents, kStrings, kSymbols, Records()};
  std::sort(parts.begin(), parts.end());
  do {
    const auto trace = ReadText(Document(parts));
    ASSERT_TRUE(trace) << trace.error().Text();
    EXPECT_EQ(Lines(*trace), Lines(*expected));
    EXPECT_EQ(Findings(*trace), Findings(*expected));
    EXPECT_EQ(trace->strings.Get(trace->host_calls[0].name), "hipLaunchKernel");
  } while (std::next_permutation(parts.begin(), parts.end()));
}

TEST(RocprofJson, KeepsWhatATornFileHolds) {
  const std::string whole = Whole();
  const std::size_t first_end = whole.find(kDispatch1) + std::string_view(kDispatch1).size();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto trace = ReadText(whole.substr(0, size));
    if (size < first_end) {
      EXPECT_FALSE(trace) << size;
    } else {
      ASSERT_TRUE(trace) << size << ": " << trace.error().Text();
      EXPECT_EQ(trace->diagnostics.count(Finding::kTornTail), 1) << size;
      EXPECT_GE(trace->size(), 1u);
    }
  }
  const auto early = ReadText(whole.substr(0, first_end - 1));
  EXPECT_EQ(early.error().code, ErrorCode::kDamagedTrace);
  EXPECT_THAT(early.error().Text(), HasSubstr("x_results.json: breaks off at byte"));
}

TEST(RocprofJson, NamesKernelsByNumberWhereATornFileLacksTheirNames) {
  std::string text = Document({kAgents, Records(), kSymbols});
  text.resize(text.find("\"kernel_symbols\""));
  const auto trace = ReadText(text);
  ASSERT_TRUE(trace) << trace.error().Text();
  EXPECT_EQ(trace->kernel_name(trace->kernel[1]), "kernel 8");
  EXPECT_EQ(trace->diagnostics.count(Finding::kUnknownKernel), 2);
}

TEST(RocprofJson, LeavesOutRecordsOfWrongTypes) {
  for (const char* value : {R"("1000")", "-1", "9223372036854775808", "4611686018427387904", "NaN",
                            "1000.5", "null", "true", "{}", "[]", "[1000]", R"({"x":1000})"}) {
    for (const char* stamp : {"start_timestamp\":1000", "end_timestamp\":1600"}) {
      const std::string key(stamp, std::string_view(stamp).find(':') + 1);
      const auto trace = ReadText(WithDispatch(Replaced(kDispatch2, stamp, key + value)));
      ASSERT_TRUE(trace) << value << ": " << trace.error().Text();
      EXPECT_EQ(trace->size(), 1u) << value;
      EXPECT_THAT(Findings(*trace), ElementsAre("malformed_row 1: kernel_dispatch"));
    }
  }
  for (const char* record : {"1", "\"x\"", "null", "[]", "{}", "[{}]"}) {
    const auto trace = ReadText(WithDispatch(record));
    ASSERT_TRUE(trace) << record << ": " << trace.error().Text();
    EXPECT_EQ(trace->size(), 1u);
    EXPECT_EQ(trace->diagnostics.count(Finding::kMalformedRow), 1) << record;
  }
}

TEST(RocprofJson, TakesImpossibleSizesForAnUnknownGeometry) {
  for (const char* size : {"0", "-1", "4294967296", "1e3", "\"64\"", "{}"}) {
    const std::string grid = fmt::format(R"("grid_size":{{"x":{})", size);
    const auto trace = ReadText(WithDispatch(Replaced(kDispatch2, R"("grid_size":{"x":64)", grid)));
    ASSERT_TRUE(trace) << size << ": " << trace.error().Text();
    EXPECT_FALSE(trace->geometries[trace->geometry[0].index()].known()) << size;
  }
}

TEST(RocprofJson, SurvivesWrongTypesInPlaceOfEachPart) {
  for (const char* key : {"metadata", "agents", "strings", "kernel_symbols", "buffer_records"}) {
    for (const char* value : {"1", "\"x\"", "null", "[1,\"x\",null,[],{}]", "{\"a\":[{}]}"}) {
      std::vector<std::string> parts = {kMetadata, kAgents, kStrings, kSymbols, Records()};
      for (std::string& part : parts) {
        if (part.starts_with(fmt::format("\"{}\"", key)))
          part = fmt::format("\"{}\":{}", key, value);
      }
      const auto trace = ReadText(Document(parts));
      EXPECT_EQ(trace.has_value(), std::string_view(key) != "buffer_records") << key << value;
    }
  }
}

TEST(RocprofJson, CountsUnknownAgentsAndKernels) {
  std::string dispatch =
      Replaced(kDispatch2, R"("agent_id":{"handle":102)", R"("agent_id":{"handle":9)");
  dispatch = Replaced(dispatch, R"("kernel_id":8)", R"("kernel_id":0)");
  const auto trace = ReadText(WithDispatch(dispatch));
  ASSERT_TRUE(trace) << trace.error().Text();
  EXPECT_EQ(Lines(*trace)[0], "1000-1600 kernel 0 1,2,3/64,2,1 device 9 9:5");
  EXPECT_EQ(trace->diagnostics.count(Finding::kUnknownAgent), 1);
  EXPECT_EQ(trace->diagnostics.count(Finding::kUnknownKernel), 1);
}

TEST(RocprofJson, CountsRepeatedAndMissingDispatchIds) {
  const auto repeated =
      ReadText(WithDispatch(Replaced(kDispatch2, "\"dispatch_id\":1", "\"dispatch_id\":2")));
  EXPECT_EQ(repeated->size(), 1u);
  EXPECT_THAT(Findings(*repeated), ElementsAre("duplicate_dispatches 1: "));
  const auto missing = ReadText(WithDispatch(
      Replaced(kDispatch2, "\"dispatch_id\":1", "\"dispatch_id\":9223372036854775807")));
  EXPECT_EQ(missing->diagnostics.count(Finding::kMissingDispatchIds), INT64_MAX - 3);
}

TEST(RocprofJson, ReadsAllProcessesOrTheOneAskedFor) {
  std::string text = Whole();
  const std::string process = text.substr(text.find('[') + 1, text.rfind(']') - text.find('[') - 1);
  text.insert(text.rfind(']'), "," + Replaced(process, "\"pid\":908", "\"pid\":911"));
  const auto both = ReadText(text);
  ASSERT_TRUE(both) << both.error().Text();
  EXPECT_EQ(both->size(), 6u);
  EXPECT_EQ(Findings(*both)[0], "several_processes 2: 908, 911");
  std::set<std::optional<std::int64_t>> processes;
  for (const Lane& lane : both->lanes) processes.insert(lane.process);
  EXPECT_THAT(processes, ElementsAre(908, 911));
  ReadOptions options;
  options.process = 911;
  const auto one = ReadText(text, options);
  EXPECT_EQ(one->size(), 3u);
  EXPECT_FALSE(one->diagnostics.Has(Finding::kSeveralProcesses));
  options.process = 5;
  EXPECT_EQ(ReadText(text, options).error().Text(),
            "x_results.json: holds no dispatch of process 5; it holds those of 908, 911");
}

TEST(RocprofJson, CountsRecordsOfOtherKinds) {
  const std::string records =
      Replaced(Records(), "{", R"({"hsa_api":[{},{}],"scratch_memory":[{}],)");
  const auto trace = ReadText(Document({kAgents, kStrings, kSymbols, records}));
  ASSERT_TRUE(trace) << trace.error().Text();
  EXPECT_THAT(Findings(*trace), ElementsAre("out_of_order 2: ", "unsupported_records 3: hsa_api"));
}

TEST(RocprofJson, SkipsCopiesFromHostToHost) {
  const std::string copy =
      Replaced(kCopy, R"("dst_agent_id":{"handle":102})", R"("dst_agent_id":{"handle":100})");
  const auto trace =
      ReadText(Document({kAgents, kStrings, kSymbols, Replaced(Records(), kCopy, copy)}));
  ASSERT_TRUE(trace) << trace.error().Text();
  EXPECT_EQ(trace->size(), 2u);
  EXPECT_THAT(Findings(*trace),
              ElementsAre("out_of_order 1: ", "unsupported_records 1: host to host copy"));
}

TEST(RocprofJson, RefusesCountersWithoutDispatches) {
  const auto trace = ReadText(R"({"rocprofiler-sdk-tool":[{"callback_records":
      {"counter_collection":[{"dispatch_data":{}}]}}]})");
  EXPECT_EQ(trace.error().code, ErrorCode::kUnsupportedTrace);
  EXPECT_EQ(trace.error().Text(),
            "x_results.json: is a counter collection of rocprofv3, without a kernel trace; trace "
            "with --kernel-trace and without --pmc");
}

TEST(RocprofJson, RefusesAFileWithoutDispatches) {
  EXPECT_THAT(ReadText(R"({"rocprofiler-sdk-tool":[]})").error().Text(),
              HasSubstr("without a single dispatch"));
}

TEST(RocprofJson, RefusesStampsThatAreAllZero) {
  std::string zero = Replaced(Replaced(kDispatch2, ":1000", ":0"), ":1600", ":0");
  const auto trace = ReadText(Document(
      {kAgents, kSymbols, fmt::format(R"("buffer_records":{{"kernel_dispatch":[{}]}})", zero)}));
  EXPECT_EQ(trace.error().code, ErrorCode::kDamagedTrace);
  EXPECT_THAT(trace.error().Text(), HasSubstr("every dispatch starts and ends at 0"));
}

TEST(RocprofJson, PassesHostileNamesOn) {
  using std::string_literals::operator""s;
  const std::string name =
      "\\u001b[31m<b>\\\"'; DROP TABLE x;--\\u0000\xff" + std::string(65536, 'n');
  const auto trace = ReadText(Document(
      {kAgents, Records(),
       fmt::format(R"("kernel_symbols":[{{"kernel_id":8,"demangled_kernel_name":"{}"}}])", name)}));
  ASSERT_TRUE(trace) << trace.error().Text();
  EXPECT_EQ(trace->kernel_name(trace->kernel[1]),
            "\x1b[31m<b>\"'; DROP TABLE x;--\0\xff"s + std::string(65536, 'n'));
}

TEST(RocprofJson, SaysWhereTheSyntaxIsWrong) {
  const auto trace = ReadText(R"({"rocprofiler-sdk-tool":[{"agents":[}]})");
  EXPECT_EQ(trace.error().code, ErrorCode::kDamagedTrace);
  EXPECT_EQ(trace.error().Text(), "x_results.json: is not valid JSON at byte 36: Invalid value.");
}

TEST(RocprofJson, RefusesDeepNesting) {
  const auto trace = ReadText(R"({"rocprofiler-sdk-tool":)" + std::string(100'000, '['));
  EXPECT_THAT(trace.error().Text(), HasSubstr("more than 128 nested levels"));
}

TEST(RocprofJson, ReadsTheRealFileOfAnMI350) {
  const char* folder = std::getenv("CULPRIT_SAMPLES");
  const std::string path =
      std::string(folder != nullptr ? folder : CULPRIT_SOURCE_DIR "/../shared/samples") +
      "/public/rocprofv3_json_mi350_908_results.json.gz";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "needs the sample " << path;
  const auto trace = ReadTrace(path);
  ASSERT_TRUE(trace) << trace.error().Text();
  EXPECT_EQ(trace->size(), 43'915u);
  EXPECT_EQ(trace->kernels.size(), 80u);
  EXPECT_EQ(trace->geometries.size(), 68u);  // 67 and the unknown one
  EXPECT_EQ(trace->lanes.size(), 567u);
  EXPECT_THAT(trace->host_calls, IsEmpty());
  EXPECT_EQ(trace->start.front().time_since_epoch().count(), 63857982592000);
  std::int64_t sum = 0;
  std::int64_t last = 0;
  std::map<std::string_view, int> launches;
  std::map<std::uint32_t, int> grids;
  for (std::size_t i = 0; i < trace->size(); ++i) {
    sum += (trace->end[i] - trace->start[i]).count();
    last = std::max<std::int64_t>(last, trace->end[i].time_since_epoch().count());
    ++launches[trace->kernel_name(trace->kernel[i])];
    const Geometry& g = trace->geometries[trace->geometry[i].index()];
    if (g.block == Dim3{256, 1, 1}) ++grids[g.grid.x];
  }
  EXPECT_EQ(sum, 4'441'741'378);
  EXPECT_EQ(last, 63873104615494);
  EXPECT_EQ(launches["__amd_rocclr_fillBufferAligned"], 3213);
  EXPECT_EQ(grids[192], 5900);
  EXPECT_EQ(trace->devices[trace->lanes[0].device.index()].name, "gfx950");
  EXPECT_EQ(trace->devices[trace->lanes[0].device.index()].number, 2);
  EXPECT_EQ(trace->diagnostics.count(Finding::kOutOfOrder), 1'937);
  EXPECT_FALSE(trace->diagnostics.Has(Finding::kMissingDispatchIds));
  EXPECT_FALSE(trace->diagnostics.Has(Finding::kMalformedRow));
}

}  // namespace
}  // namespace culprit::trace::rocprof_json
