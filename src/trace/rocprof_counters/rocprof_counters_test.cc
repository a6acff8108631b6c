#include "trace/rocprof_counters/rocprof_counters.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/number_format.h"
#include "sys/sample_files.h"

namespace culprit::trace::rocprof_counters {
namespace {

using base::ErrorCode;
using base::Finding;
using base::HostTime;
using base::Nanos;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view kHeader =
    "\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Process_Id\",\"Thread_Id\","
    "\"Grid_Size\",\"Kernel_Id\",\"Kernel_Name\",\"Workgroup_Size\",\"LDS_Block_Size\","
    "\"Scratch_Size\",\"VGPR_Count\",\"Accum_VGPR_Count\",\"SGPR_Count\",\"Counter_Name\","
    "\"Counter_Value\",\"Start_Timestamp\",\"End_Timestamp\"\n";

base::Result<CounterSet> ReadText(const std::string& rows,
                                  const std::optional<CountWindow>& window = std::nullopt,
                                  std::string_view header = kHeader) {
  return Read(sys::Source::FromMemory("c.csv", std::string(header) + rows), window);
}

// Row is one in which only what a test varies is given.
std::string Row(int id, const std::string& counter, const std::string& value,
                const std::string& kernel = "k()", int start = 1000,
                const std::string& agent = "Agent 1") {
  return fmt::format("1,{},{},2,69,69,4096,7,\"{}\",256,512,0,24,8,128,\"{}\",{},{},{}\n", id,
                     agent, kernel, counter, value, start, start + 10);
}

std::string Show(const std::optional<std::int64_t>& number) {
  return number ? std::to_string(*number) : "-";
}

// What a set says, a line for each kernel: name blocksxthreads vgpr/accum/sgpr/lds/scratch
// launches, then counter=sum/count.
std::vector<std::string> Lines(const CounterSet& set) {
  std::vector<std::string> lines;
  for (const CountedKernel& kernel : set.kernels) {
    const Resources& r = kernel.resources;
    std::string line = fmt::format("{} {}x{} {}/{}/{}/{}/{} {}", set.strings.Get(kernel.name),
                                   kernel.geometry.grid.x, kernel.geometry.block.x, Show(r.vgpr),
                                   Show(r.accum_vgpr), Show(r.sgpr), Show(r.lds_bytes),
                                   Show(r.scratch_bytes), kernel.launches);
    for (const auto& [id, sum] : kernel.counters) {
      line += fmt::format(" {}={}/{}", set.strings.Get(set.counters[id.index()]),
                          base::Exact(sum.sum).value(), sum.count);
    }
    lines.push_back(line);
  }
  return lines;
}

TEST(RocprofCounters, CountsADispatchOnceHoweverManyCountersItHas) {
  const auto set = ReadText(Row(1, "SQ_WAVES", "16.000000") + Row(1, "L2CacheHit", "3.25e+01") +
                            Row(2, "SQ_WAVES", "20") + Row(2, "L2CacheHit", "17.5"));
  ASSERT_TRUE(set) << set.error().Text();
  EXPECT_THAT(Lines(*set),
              ElementsAre("k() 16x256 24/8/128/512/0 2 SQ_WAVES=36/2 L2CacheHit=50/2"));
  EXPECT_EQ(set->launches, 2);
  EXPECT_TRUE(set->diagnostics.entries().empty());
}

TEST(RocprofCounters, TellsKernelsAndShapesApart) {
  std::string wide = Row(3, "SQ_WAVES", "4");
  wide.replace(wide.find("4096"), 4, "8192");
  const auto set =
      ReadText(Row(1, "SQ_WAVES", "1") + Row(2, "SQ_WAVES", "2", "f(\"\"x\"\").kd") + wide);
  ASSERT_TRUE(set);
  EXPECT_THAT(Lines(*set), ElementsAre("k() 16x256 24/8/128/512/0 1 SQ_WAVES=1/1",
                                       "f(\"x\") 16x256 24/8/128/512/0 1 SQ_WAVES=2/1",
                                       "k() 32x256 24/8/128/512/0 1 SQ_WAVES=4/1"));
}

TEST(RocprofCounters, LeavesOutWhatDispatchesLack) {
  const auto set = ReadText(Row(1, "A", "1") + Row(1, "B", "2") + Row(2, "A", "3") +
                            Row(3, "B", "nan") + Row(4, "B", "-nan"));
  ASSERT_TRUE(set);
  EXPECT_THAT(Lines(*set), ElementsAre("k() 16x256 24/8/128/512/0 4 A=4/2 B=2/1"));
  EXPECT_EQ(set->diagnostics.count(Finding::kValuelessCounter), 2);
}

// Ids count on their own in each process and agent, and behind each header.
TEST(RocprofCounters, KnowsADispatchByItsAgent) {
  const auto set = ReadText(Row(1, "A", "1") + Row(1, "A", "2", "k()", 1000, "Agent 2") +
                            Row(1, "A", "100") + std::string(kHeader) + Row(1, "A", "4"));
  ASSERT_TRUE(set);
  EXPECT_THAT(Lines(*set), ElementsAre("k() 16x256 24/8/128/512/0 3 A=7/3"));
  EXPECT_EQ(set->diagnostics.count(Finding::kDuplicateDispatches), 1);
}

TEST(RocprofCounters, TakesTheDispatchesThatBeginInAWindow) {
  const CountWindow window{HostTime(Nanos(1000)), HostTime(Nanos(2000))};
  const std::string rows = Row(1, "A", "1", "k()", 1000) + Row(2, "A", "2", "k()", 1001) +
                           Row(3, "A", "4", "k()", 2000) + Row(4, "A", "8", "k()", 2001);
  const auto set = ReadText(rows, window);
  ASSERT_TRUE(set);
  EXPECT_THAT(Lines(*set), ElementsAre("k() 16x256 24/8/128/512/0 2 A=6/2"));
  EXPECT_EQ(set->outside, 2);
  const auto none = ReadText(rows, CountWindow{HostTime(Nanos(5000)), HostTime(Nanos(6000))});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kNoWindow);
  EXPECT_THAT(none.error().Text(), HasSubstr("none of its 4 dispatches lies in"));
}

TEST(RocprofCounters, CountsRowsThatMakeNoSense) {
  for (const std::string& bad :
       {Row(2, "A", "-1"), Row(2, "A", "inf"), Row(2, "A", "1e300"), Row(2, "A", "x"),
        Row(2, "A", ""), Row(2, "A", "1 "), Row(2, "", "1"), Row(-2, "A", "1"),
        Row(2, "A", "1", ""), Row(1, "B", "1", "other()"), std::string("1,2,3\n")}) {
    const auto set = ReadText(Row(1, "A", "1") + bad);
    ASSERT_TRUE(set) << bad;
    EXPECT_EQ(set->diagnostics.count(Finding::kMalformedRow), 1) << bad;
    EXPECT_EQ(set->launches, 1) << bad;
  }
  const auto torn = ReadText(Row(1, "A", "1") + Row(2, "A", "1").substr(0, 40));
  ASSERT_TRUE(torn);
  EXPECT_EQ(torn->diagnostics.count(Finding::kTornTail), 1);
}

TEST(RocprofCounters, NeedsNoMoreThanAFewColumns) {
  const auto set =
      ReadText("k(),7,A,5\n", std::nullopt, "kernel_name,dispatch_id,counter_name,counter_value\n");
  ASSERT_TRUE(set) << set.error().Text();
  EXPECT_THAT(Lines(*set), ElementsAre("k() 0x0 -/-/-/-/- 1 A=5/1"));
}

TEST(RocprofCounters, RefusesWhatIsNoCounterCollection) {
  const auto refused = [](std::string_view header, const std::string& rows = "",
                          bool window = false) {
    const auto set = ReadText(rows, window ? std::optional(CountWindow{}) : std::nullopt, header);
    return set ? "read" : set.error().Text();
  };
  EXPECT_EQ(refused("Name,Calls\n"),
            "c.csv: is no counter collection; it has Name, Calls; give the "
            "*_counter_collection.csv of rocprofv3 --pmc");
  EXPECT_EQ(refused("Kernel_Name,Start_Timestamp\n"),
            "c.csv: is a kernel trace, in which nothing is counted; culprit analyze reads it");
  EXPECT_THAT(refused("Kernel_Name,Counter_Name,Counter_Value\n"),
              HasSubstr("lacks the column Dispatch_Id; it has Kernel_Name, "));
  EXPECT_THAT(refused("Kernel_Name,Counter_Name,Counter_Value,Dispatch_Id\n", "", true),
              HasSubstr("lacks the column Start_Timestamp"));
  EXPECT_THAT(refused(kHeader), HasSubstr("holds no dispatch; did the server run on the GPU"));
  EXPECT_THAT(refused(kHeader.substr(0, 50)), HasSubstr("breaks off in its header"));
  EXPECT_THAT(refused(""), HasSubstr("breaks off in its header"));
}

TEST(RocprofCounters, SurvivesAFileCutAnywhere) {
  const std::string whole = std::string(kHeader) + Row(1, "A", "1") + Row(2, "B\n,\"\"", "1");
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    const auto set = Read(sys::Source::FromMemory("c.csv", whole.substr(0, cut)));
    ASSERT_TRUE(!set || set->launches <= 2) << cut;
  }
}

// A real file, which is not part of the project. The expected values were computed with Python's
// csv module.
TEST(RocprofCountersSamples, IsReadInFull) {
  const char* folder = std::getenv("CULPRIT_SAMPLES");
  const auto path =
      std::filesystem::path(folder ? folder : CULPRIT_SOURCE_DIR "/../shared/samples") / "public" /
      "rocprofv3_gfx1151_llamacpp_decode_counter_collection.csv";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no sample file " << path;
  const auto source = sys::Source::Open(path.string());
  ASSERT_TRUE(source);
  const auto set = Read(*source);
  ASSERT_TRUE(set) << set.error().Text();
  EXPECT_EQ(set->launches, 34);
  EXPECT_EQ(set->counters.size(), 10u);
  EXPECT_EQ(set->kernels.size(), 21u);
  EXPECT_TRUE(set->diagnostics.entries().empty());
  double cycles = 0;
  for (const CountedKernel& kernel : set->kernels) {
    EXPECT_EQ(kernel.counters.size(), 10u);
    for (const auto& [id, sum] : kernel.counters) {
      EXPECT_EQ(sum.count, kernel.launches);
      if (set->strings.Get(set->counters[id.index()]) == "SQ_BUSY_CYCLES") cycles += sum.sum;
    }
  }
  EXPECT_EQ(cycles, 15'569'952);
}

}  // namespace
}  // namespace culprit::trace::rocprof_counters
