#include "trace/chrome/chrome.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "trace/registry.h"

namespace culprit::trace::chrome {
namespace {

using base::ErrorCode;
using base::Finding;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kKernel =
    R"({"ph":"X","cat":"kernel","name":"_Z3addPf","pid":2,"tid":7,"ts":100.001,"dur":4.439,
  "args":{"device":2,"stream":7,"correlation":11,"grid":[10,2,1],"block":[256,1,1]}})";
constexpr const char* kMemcpy =
    R"({"ph":"X","cat":"gpu_memcpy","name":"Memcpy DtoD","pid":2,"tid":7,"ts":200,"dur":0.76,
  "args":{"device":2,"stream":7,"correlation":12,"bytes":1}})";
constexpr const char* kMemset =
    R"({"ph":"X","cat":"gpu_memset","name":"Memset","pid":2,"tid":8,"ts":300.5,"dur":1.25,
  "args":{"device":2,"stream":8,"correlation":13}})";
constexpr const char* kLaunch =
    R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":851,"tid":851,"ts":90.5,
  "dur":3.5,"args":{"cid":60,"correlation":11}})";
constexpr const char* kOthers =
    R"({"ph":"X","cat":"user_annotation","name":"step","pid":851,"tid":851,"ts":0,"dur":999},
  {"ph":"X","cat":"gpu_user_annotation","name":"step","pid":2,"tid":7,"ts":90,"dur":400},
  {"ph":"X","cat":"cpu_op","name":"aten::add","pid":851,"tid":851,"ts":1,"dur":2,
   "args":{"Input Dims":[[1024,72],[]]}},
  {"ph":"f","id":11,"pid":851,"tid":851,"ts":90.5,"cat":"ac2g","name":"ac2g","bp":"e"},
  {"name":"process_name","ph":"M","ts":0,"pid":"Spans","args":{"name":"python3"}})";
constexpr const char* kProperties = R"("deviceProperties":[{"id":0,"name":"AMD Instinct MI300X"}])";
constexpr const char* kBase = R"("baseTimeNanoseconds":1751410836000000000)";

std::string Events(const std::vector<std::string>& events) {
  return fmt::format(R"("traceEvents":[{}])", fmt::join(events, ","));
}
std::string Object(const std::vector<std::string>& members) {
  return fmt::format("{{{}}}", fmt::join(members, ","));
}
std::string Whole() {
  return Object({kProperties, Events({kKernel, kOthers, kMemcpy, kMemset, kLaunch}), kBase});
}
std::string Array(const std::vector<std::string>& events) {
  return fmt::format("[{}]", fmt::join(events, ","));
}

std::string Replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

base::Result<Trace> ReadText(std::string text) {
  return ReadTrace(sys::Source::FromMemory("x.json", std::move(text)));
}

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

TEST(Chrome, ReadsWorkAndCallsAndNothingElse) {
  const auto trace = ReadText(Whole());
  ASSERT_TRUE(trace) << trace.error().Text();
  EXPECT_THAT(Lines(*trace),
              ElementsAre("1751410836000100001-1751410836000104440 add(float*) 10,2,1/256,1,1 "
                          "AMD Instinct MI300X 2:7",
                          "1751410836000200000-1751410836000200760 Memcpy DtoD 0,0,0/0,0,0 "
                          "AMD Instinct MI300X 2:7",
                          "1751410836000300500-1751410836000301750 Memset 0,0,0/0,0,0 "
                          "AMD Instinct MI300X 2:8"));
  const auto kind = [&](std::size_t i) { return trace->kernels[trace->kernel[i].index()].kind; };
  EXPECT_EQ(kind(0), WorkKind::kKernel);
  EXPECT_EQ(kind(1), WorkKind::kCopy);
  EXPECT_EQ(kind(2), WorkKind::kFill);
  ASSERT_EQ(trace->host_calls.size(), 1u);
  EXPECT_EQ(trace->strings.Get(trace->host_calls[0].name), "cudaLaunchKernel");
  EXPECT_EQ(trace->host_calls[0].start.time_since_epoch().count(), 1751410836000090500);
  EXPECT_EQ(trace->clock, NamedClock::kRealtime);
  EXPECT_THAT(Findings(*trace), IsEmpty());
}

TEST(Chrome, ReadsTheSameWhateverTheOrderOfKeys) {
  const auto expected = ReadText(Whole());
  std::vector<std::string> members = {kProperties, kBase,
                                      Events({kKernel, kOthers, kMemcpy, kMemset, kLaunch})};
  std::sort(members.begin(), members.end());
  do {
    EXPECT_EQ(Lines(*ReadText(Object(members))), Lines(*expected));
  } while (std::next_permutation(members.begin(), members.end()));
  const char* args_first =
      R"({"args":{"block":[256,1,1],"grid":[10,2,1],"correlation":11,"stream":7,"device":2},
      "dur":4.439,"ts":100.001,"name":"_Z3addPf","cat":"kernel","ph":"X"})";
  EXPECT_EQ(Lines(*ReadText(Object({kProperties, kBase, Events({args_first})})))[0],
            Lines(*expected)[0]);
}

TEST(Chrome, ReadsABareArrayWithoutABaseOnAnUnknownClock) {
  const auto trace = ReadText(Array({kOthers, kKernel}));
  ASSERT_TRUE(trace) << trace.error().Text();
  EXPECT_EQ(Lines(*trace)[0], "100001-104440 add(float*) 10,2,1/256,1,1 device 2 2:7");
  EXPECT_EQ(trace->clock, NamedClock::kUnknown);
}

TEST(Chrome, ReadsTheCategoriesOfOlderKinetos) {
  const auto trace = ReadText(Array(
      {Replaced(kKernel, "\"kernel\"", "\"Kernel\""), Replaced(kMemcpy, "gpu_memcpy", "Memcpy"),
       Replaced(kMemset, "gpu_memset", "Memset"), Replaced(kLaunch, "cuda_runtime", "Runtime")}));
  ASSERT_TRUE(trace) << trace.error().Text();
  EXPECT_EQ(trace->size(), 3u);
  EXPECT_EQ(trace->host_calls.size(), 1u);
}

TEST(Chrome, KeepsWorkThatStartsAtZeroOrBeforeWhereTheZeroMeansNothing) {
  const auto trace =
      ReadText(Array({Replaced(kKernel, "100.001", "0"), Replaced(kMemcpy, ":200", ":-1.5")}));
  ASSERT_TRUE(trace) << trace.error().Text();
  EXPECT_EQ(trace->size(), 2u);
  EXPECT_EQ(trace->start[1] - trace->start[0], base::Nanos(1500));
  EXPECT_EQ(trace->end[1] - trace->start[1], base::Nanos(4439));
}

TEST(Chrome, FindsPropertiesThatStandFarBeforeTheEvents) {
  const std::string far = "\"distributedInfo\":\"" + std::string(100'000, 'x') + "\"";
  const auto trace = ReadText(Object({far, Events({kKernel})}));
  ASSERT_TRUE(trace) << trace.error().Text();
  EXPECT_EQ(trace->size(), 1u);
}

TEST(Chrome, NamesEachDeviceWhereTheyDiffer) {
  const auto trace = ReadText(
      Object({R"("deviceProperties":[{"id":0,"name":"NVIDIA H200"},{"id":2,"name":"NVIDIA L4"}])",
              Events({kKernel, Replaced(kMemcpy, "\"device\":2", "\"device\":1")})}));
  EXPECT_EQ(trace->devices[0].name, "NVIDIA L4");
  EXPECT_EQ(trace->devices[1].name, "device 1");
  EXPECT_EQ(trace->diagnostics.count(Finding::kMixedDevices), 2);
}

TEST(Chrome, ConvertsGridsOfCallsThatCountWorkItems) {
  const auto trace =
      ReadText(Array({Replaced(kKernel, "[10,2,1]", "[1000,2,1]"),
                      Replaced(kLaunch, "cudaLaunchKernel", "hipExtModuleLaunchKernel")}));
  EXPECT_EQ(trace->geometries[trace->geometry[0].index()], (Geometry{{4, 2, 1}, {256, 1, 1}}));
}

TEST(Chrome, SaysThatGraphsHaveNoNodes) {
  const std::string launch = Replaced(kLaunch, "cudaLaunchKernel", "cudaGraphLaunch");
  const auto with_nodes = ReadText(Array({launch, kKernel, kMemcpy}));
  EXPECT_FALSE(with_nodes->diagnostics.Has(Finding::kGraphWithoutNodes));
  const std::string kernel = Replaced(kKernel, "\"correlation\":11", "\"correlation\":12");
  const std::string call = Replaced(kLaunch, "\"correlation\":11", "\"correlation\":12");
  const auto without = ReadText(Array({launch, call, kernel}));
  EXPECT_THAT(Findings(*without), ElementsAre("graph_without_nodes 1: 1 of 1 graph launches"));
  const auto other_numbers = ReadText(Array({launch, kernel}));
  EXPECT_FALSE(other_numbers->diagnostics.Has(Finding::kGraphWithoutNodes));
}

TEST(Chrome, KeepsWhatATornFileHolds) {
  const std::string whole = Whole();
  const std::size_t first_end = whole.find(kKernel) + std::string_view(kKernel).size();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto trace = ReadText(whole.substr(0, size));
    if (size < first_end) {
      EXPECT_FALSE(trace) << size;
    } else {
      ASSERT_TRUE(trace) << size << ": " << trace.error().Text();
      EXPECT_EQ(trace->diagnostics.count(Finding::kTornTail), 1) << size;
    }
  }
  EXPECT_THAT(ReadText(whole.substr(0, first_end - 1)).error().Text(),
              HasSubstr("before any GPU event was read whole"));
}

TEST(Chrome, LeavesOutEventsOfWrongTypes) {
  for (const char* value : {R"("100.001")", "NaN", "Infinity", "1e300", "2305843009213693.952",
                            "null", "true", "{}", "[]", "[100.001]", R"({"x":1})"}) {
    for (const char* key : {"\"ts\":100.001", "\"dur\":4.439"}) {
      const std::string name(key, std::string_view(key).find(':') + 1);
      const auto trace = ReadText(Array({kMemcpy, Replaced(kKernel, key, name + value)}));
      ASSERT_TRUE(trace) << value << ": " << trace.error().Text();
      EXPECT_THAT(Findings(*trace), ElementsAre("malformed_row 1: kernel")) << key << value;
    }
  }
  for (const char* value : {"1", "null", "[]", "{}"}) {
    const auto trace = ReadText(Array(
        {kMemcpy, Replaced(kKernel, R"("name":"_Z3addPf")", fmt::format(R"("name":{})", value))}));
    EXPECT_THAT(Findings(*trace), ElementsAre("malformed_row 1: kernel")) << value;
  }
}

TEST(Chrome, TakesWrongArgumentsForUnknownOnes) {
  for (const char* value : {"1", "\"x\"", "null", "{}", "[]", "[1,2]", "[1,2,3,4]", "[1,2,\"3\"]",
                            "[1,2,0]", "[1,2,-3]", "[1,2,4294967296]", "[1,2,[3]]", "[1.5,2,3]"}) {
    const auto trace = ReadText(Array({Replaced(kKernel, "[10,2,1]", value)}));
    ASSERT_TRUE(trace) << value << ": " << trace.error().Text();
    EXPECT_FALSE(trace->geometries[trace->geometry[0].index()].known()) << value;
  }
  const auto trace = ReadText(Array({Replaced(kKernel, "\"args\":{", "\"args\":3,\"x\":{")}));
  EXPECT_EQ(Lines(*trace)[0], "100001-104440 add(float*) 0,0,0/0,0,0 device 2 2:7");
}

TEST(Chrome, SwapsANegativeDuration) {
  const auto trace = ReadText(Array({Replaced(kKernel, "4.439", "-4.439")}));
  EXPECT_THAT(Findings(*trace), ElementsAre("end_before_start 1: "));
}

TEST(Chrome, PassesHostileNamesOn) {
  using std::string_literals::operator""s;
  const std::string name = "\\u001b[31m<b>\\\"'\\u0000\xff" + std::string(65536, 'n');
  const auto trace = ReadText(Array({Replaced(kKernel, "_Z3addPf", name)}));
  EXPECT_EQ(trace->kernel_name(trace->kernel[0]),
            "\x1b[31m<b>\"'\0\xff"s + std::string(65536, 'n'));
}

TEST(Chrome, RefusesATraceOfTheHostAlone) {
  const auto trace = ReadText(Object({Events({kOthers, kLaunch})}));
  EXPECT_EQ(trace.error().code, ErrorCode::kUnsupportedTrace);
  EXPECT_EQ(trace.error().Text(),
            "x.json: is a Chrome trace of the host alone: it holds no kernel, copy or fill of a "
            "GPU; record with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], on ROCm "
            "too");
}

TEST(Chrome, RefusesJsonThatIsNoTrace) {
  const auto refusal = [](std::string text) {
    const auto trace = ReadText(std::move(text));
    EXPECT_EQ(trace.error().code, ErrorCode::kNotATrace);
    return trace.error().message;
  };
  EXPECT_EQ(refusal(R"({"schema":"culprit-report","version":1})"),
            "is a report of culprit, not a trace");
  EXPECT_EQ(refusal(R"({"t_send":1,"timings":{"prompt_ms":1.5}})"),
            "is the answer of a llama-server, not a trace");
  EXPECT_EQ(refusal(R"({"a":{"traceEvents":[]}})"),
            "is a JSON object without traceEvents or rocprofiler-sdk-tool");
  EXPECT_EQ(refusal(" [1,{\"pho\":\"X\"}]"), "is a JSON array without trace events");
  EXPECT_EQ(refusal("{\"traceEv"),
            "is JSON that breaks off at byte 9 without having shown a trace");
  EXPECT_EQ(refusal("[2026-01-01] not JSON at all"), "is no trace that culprit knows");
  EXPECT_EQ(refusal(std::string(100'000, '[')), "is no trace that culprit knows");
}

TEST(Chrome, SaysWhereTheSyntaxIsWrong) {
  EXPECT_EQ(ReadText("{\"traceEvents\":[{\"ph\":}]}").error().Text(),
            "x.json: is not valid JSON at byte 22: Invalid value.");
}

std::string Sample(const std::string& name) {
  const char* folder = std::getenv("CULPRIT_SAMPLES");
  return std::string(folder != nullptr ? folder : CULPRIT_SOURCE_DIR "/../shared/samples") +
         "/public/" + name;
}

// Totals is what Python counts in a real file.
struct Totals {
  std::size_t kernels = 0, copies = 0, calls = 0, names = 0, known_geometries = 0;
  std::int64_t busy = 0, first = 0, last = 0, in_calls = 0;
  bool operator==(const Totals&) const = default;
};

Totals Count(const Trace& trace) {
  Totals totals;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const bool kernel = trace.kernels[trace.kernel[i].index()].kind == WorkKind::kKernel;
    ++(kernel ? totals.kernels : totals.copies);
    totals.known_geometries += trace.geometries[trace.geometry[i].index()].known();
    totals.busy += (trace.end[i] - trace.start[i]).count();
    totals.last = std::max<std::int64_t>(totals.last, trace.end[i].time_since_epoch().count());
  }
  for (const HostCall& call : trace.host_calls) totals.in_calls += (call.end - call.start).count();
  totals.calls = trace.host_calls.size();
  totals.names = trace.kernels.size();
  totals.first = trace.start.front().time_since_epoch().count();
  return totals;
}

TEST(Chrome, ReadsTheRealTraceOfAChatModelOnMI300X) {
  const std::string path = Sample("kineto_mi300_qwen1.5-0.5b-chat.json.gz");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "needs the sample " << path;
  const auto trace = ReadTrace(path);
  ASSERT_TRUE(trace) << trace.error().Text();
  EXPECT_EQ(Count(*trace), (Totals{1516, 1, 1707, 29, 1053, 43'062'802, 1753652182127176383,
                                   1753652182174262183, 22'480'530}));
  EXPECT_EQ(trace->devices[0].name, "AMD Instinct MI300X VF");
  EXPECT_EQ(trace->clock, NamedClock::kRealtime);
  EXPECT_THAT(Findings(*trace), IsEmpty());
  // 71,680 work-items in workgroups of 256.
  const Geometry expected{{280, 1, 1}, {256, 1, 1}};
  EXPECT_NE(std::find(trace->geometries.begin(), trace->geometries.end(), expected),
            trace->geometries.end());
}

TEST(Chrome, ReadsTheRealTraceOfVllmUnderAHipGraph) {
  const std::string path = Sample("kineto_rocm_vllm_decode_full_graph_execution.json.gz");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "needs the sample " << path;
  const auto trace = ReadTrace(path);
  ASSERT_TRUE(trace) << trace.error().Text();
  EXPECT_EQ(Count(*trace), (Totals{425, 9, 20, 25, 4, 10'717'708, 1773709930861858561,
                                   1773709930872601742, 586'547}));
  std::map<std::string, int> launches;
  for (const KernelId kernel : trace->kernel) {
    ++launches[std::string(trace->kernel_name(kernel).substr(0, 20))];
  }
  EXPECT_EQ(launches["_matmul_ogs_NNT_bf16"], 48);
  EXPECT_THAT(Findings(*trace), IsEmpty());
}

}  // namespace
}  // namespace culprit::trace::chrome
