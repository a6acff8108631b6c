#include "trace/rocprof_csv/rocprof_csv.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

namespace culprit::trace::rocprof_csv {
namespace {

using base::ErrorCode;
using base::Finding;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::string_view k62 =
    "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\","
    "\"Start_Timestamp\",\"End_Timestamp\",\"Private_Segment_Size\",\"Group_Segment_Size\","
    "\"Workgroup_Size_X\",\"Workgroup_Size_Y\",\"Workgroup_Size_Z\",\"Grid_Size_X\","
    "\"Grid_Size_Y\",\"Grid_Size_Z\"\n";
constexpr std::string_view k63 =
    "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Thread_Id\",\"Dispatch_Id\",\"Kernel_Id\","
    "\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\","
    "\"Private_Segment_Size\",\"Group_Segment_Size\",\"Workgroup_Size_X\",\"Workgroup_Size_Y\","
    "\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_Size_Y\",\"Grid_Size_Z\"\n";
constexpr std::string_view k70 =
    "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Thread_Id\",\"Dispatch_Id\","
    "\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\","
    "\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\",\"Accum_VGPR_Count\",\"SGPR_Count\","
    "\"Workgroup_Size_X\",\"Workgroup_Size_Y\",\"Workgroup_Size_Z\",\"Grid_Size_X\","
    "\"Grid_Size_Y\",\"Grid_Size_Z\"\n";
constexpr std::string_view kConvert =
    "\"Guid\",\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Graph_Exec_Id\","
    "\"Graph_Node_Id\",\"Thread_Id\",\"Dispatch_Id\",\"Kernel_Id\",\"Kernel_Name\","
    "\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\",\"Duration\",\"Lds_Block_Size\","
    "\"Scratch_Size\",\"Vgpr_Count\",\"Accum_Vgpr_Count\",\"Sgpr_Count\",\"Workgroup_Size_X\","
    "\"Workgroup_Size_Y\",\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_Size_Y\",\"Grid_Size_Z\"\n";
constexpr std::string_view kV1 =
    "\"Index\",\"KernelName\",\"gpu-id\",\"queue-id\",\"queue-index\",\"pid\",\"tid\",\"grd\","
    "\"wgr\",\"lds\",\"scr\",\"arch_vgpr\",\"accum_vgpr\",\"sgpr\",\"wave_size\",\"sig\",\"obj\","
    "\"DispatchNs\",\"BeginNs\",\"EndNs\",\"CompleteNs\",\"DurationNs\"\n";

base::Result<Trace> ReadText(std::string_view header, const std::string& rows,
                             const ReadOptions& options = {}) {
  return Read(sys::Source::FromMemory("t.csv", std::string(header) + rows), options);
}

// Row70 is a row of ROCm 7.0 in which only what a test varies is given.
std::string Row70(int id, int start, int end, const std::string& name = "k()",
                  const std::string& grid_x = "64") {
  return fmt::format(
      "\"KERNEL_DISPATCH\",\"Agent 1\",2,2,69,{},7,\"{}\",9,{},{},0,0,8,0,16,32,1,1,{},1,1\n", id,
      name, start, end, grid_x);
}

std::string Show(std::optional<std::int64_t> number) {
  return number ? std::to_string(*number) : "-";
}

// Dump is one line a dispatch: start-end name grid/block device queue stream.
std::vector<std::string> Dump(const base::Result<Trace>& trace) {
  if (!trace) return {trace.error().Text()};
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < trace->size(); ++i) {
    const Geometry& g = trace->geometries[trace->geometry[i].index()];
    const Lane& lane = trace->lanes[trace->lane[i].index()];
    lines.push_back(fmt::format(
        "{}-{} {} {},{},{}/{},{},{} {} {} {}", trace->start[i].time_since_epoch().count(),
        trace->end[i].time_since_epoch().count(), trace->kernel_name(trace->kernel[i]), g.grid.x,
        g.grid.y, g.grid.z, g.block.x, g.block.y, g.block.z,
        trace->devices[lane.device.index()].name, Show(lane.queue), Show(lane.stream)));
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

TEST(RocprofCsvReader, ReadsRocm62WithoutDispatchIds) {
  const auto trace = ReadText(
      k62,
      "\"KERNEL_DISPATCH\",1,140,16,\"scale_f32(float const*, float*)\",3,100,200,0,0,256,1,"
      "1,24576,1,1\n");
  EXPECT_THAT(Dump(trace), ElementsAre("100-200 scale_f32(float const*, float*) 96,1,1/256,1,1 "
                                       "device 1 140 -"));
  EXPECT_EQ(trace->format, "rocprofv3 CSV");
  EXPECT_EQ(trace->clock, NamedClock::kBoottime);
}

TEST(RocprofCsvReader, ReadsRocm63) {
  EXPECT_THAT(Dump(ReadText(k63,
                            "\"KERNEL_DISPATCH\",1,2,69,5,16,\"void add<float>(float*, int)\",1484,"
                            "100,200,0,0,64,1,1,1024,1024,1\n")),
              ElementsAre("100-200 void add<float>(float*, int) 16,1024,1/64,1,1 device 1 2 -"));
}

TEST(RocprofCsvReader, ReadsRocm70WithEveryFieldQuoted) {
  const auto trace =
      ReadText(k70,
               "\"KERNEL_DISPATCH\",\"Agent 4\",\"2\",\"3\",\"69\",\"1\",\"33\",\"k(int, int)\","
               "\"40054\",\"100\",\"200\",\"0\",\"0\",\"8\",\"0\",\"128\",\"256\",\"1\",\"1\","
               "\"24577\",\"1\",\"1\"\r\n");
  EXPECT_THAT(Dump(trace), ElementsAre("100-200 k(int, int) 97,1,1/256,1,1 device 4 2 3"));
  EXPECT_THAT(Findings(trace), ElementsAre());
}

TEST(RocprofCsvReader, ReadsRocpdConvert) {
  const auto trace =
      ReadText(kConvert,
               "\"0000ddb5-8903\",\"KERNEL_DISPATCH\",\"Agent 1\",1,1,0,0,137,1,10,\"k()\",8,"
               "100,200,100,0,0,8,0,16,64,1,1,1024,1,1\n");
  EXPECT_THAT(Dump(trace), ElementsAre("100-200 k() 16,1,1/64,1,1 device 1 1 1"));
  EXPECT_EQ(trace->format, "rocpd convert CSV");
}

TEST(RocprofCsvReader, ReadsRocprofV1) {
  const auto trace =
      ReadText(kV1,
               "0,\"__amd_rocclr_fillBufferAligned.kd\",2,0,0,77,77,512,256,0,0,16,0,128,32,"
               "\"0x0\",\"0x709f\",90,100,200,210,100\n"
               "1,\"void f<4>(int) [clone .kd]\",2,0,2,77,77,256,256,0,0,16,0,128,32,"
               "\"0x0\",\"0x709f\",290,300,400,410,100\n");
  EXPECT_THAT(Dump(trace),
              ElementsAre("100-200 __amd_rocclr_fillBufferAligned 2,1,1/256,1,1 device 2 0 -",
                          "300-400 void f<4>(int) 1,1,1/256,1,1 device 2 0 -"));
  EXPECT_EQ(trace->format, "rocprof v1 CSV");
  EXPECT_EQ(trace->clock, NamedClock::kUnknown);
}

TEST(RocprofCsvReader, FindsColumnsByNameInAnyOrderAndCase) {
  EXPECT_THAT(Dump(ReadText("END_TIMESTAMP,queue_id,Kernel_name,agent_id,start_timestamp\n",
                            "200,1,k,agent 3,100\n")),
              ElementsAre("100-200 k 0,0,0/0,0,0 device 3 1 -"));
}

TEST(RocprofCsvReader, NamesTheColumnThatIsMissing) {
  EXPECT_THAT(Dump(ReadText("Kernel_Name,Agent_Id,Queue_Id,Start_Timestamp\n", "k,1,1,100\n")),
              ElementsAre("t.csv: lacks the column End_Timestamp; it has Kernel_Name, Agent_Id, "
                          "Queue_Id, Start_Timestamp; give the file as the profiler wrote it, "
                          "with time stamps"));
}

TEST(RocprofCsvReader, CountsMalformedRowsAndReadsTheOthers) {
  const auto trace =
      ReadText(k70, Row70(1, 100, 200) + "only,three,fields\n" + Row70(2, 300, 400, "k()", "-1") +
                        Row70(3, 300, 400, "k()", "4294967296") + Row70(4, 500, 600, "") +
                        Row70(5, 700, 800));
  EXPECT_THAT(Dump(trace), ElementsAre("100-200 k() 2,1,1/32,1,1 device 1 2 2",
                                       "700-800 k() 2,1,1/32,1,1 device 1 2 2"));
  EXPECT_THAT(Findings(trace), ElementsAre("malformed_row 4 line 3", "missing_dispatch_ids 3 "));
}

TEST(RocprofCsvReader, SkipsRecordsOfOtherKinds) {
  const auto trace = ReadText(k62,
                              "\"MEMORY_COPY\",1,1,1,\"c\",1,100,200,0,0,1,1,1,1,1,1\n"
                              "\"KERNEL_DISPATCH\",1,1,1,\"k\",1,100,200,0,0,1,1,1,1,1,1\n");
  EXPECT_EQ(trace->size(), 1u);
  EXPECT_THAT(Findings(trace), ElementsAre("unsupported_records 1 "));
}

TEST(RocprofCsvReader, CountsDispatchIdsOfEachProcessByItself) {
  const auto row = [](const char* guid, int id, int start) {
    return fmt::format(
        "\"{}\",\"KERNEL_DISPATCH\",\"Agent 1\",1,1,0,0,137,{},10,\"k()\",8,{},{},1,0,0,8,0,16,64,"
        "1,1,1024,1,1\n",
        guid, id, start, start + 1);
  };
  EXPECT_THAT(Findings(ReadText(kConvert, row("a", 1, 10) + row("a", 2, 20) + row("b", 1, 30) +
                                              row("b", 2, 40) + row("b", 4, 50))),
              ElementsAre("several_processes 2 ", "missing_dispatch_ids 1 "));
}

TEST(RocprofCsvReader, ReadsFilesJoinedWithTheirHeaders) {
  const auto trace =
      ReadText(k70, Row70(1, 100, 200) + std::string(k63) +
                        "\"KERNEL_DISPATCH\",1,2,69,1,16,\"k()\",1,300,400,0,0,64,1,1,64,1,1\n");
  EXPECT_THAT(Dump(trace), ElementsAre("100-200 k() 2,1,1/32,1,1 device 1 2 2",
                                       "300-400 k() 1,1,1/64,1,1 device 1 2 -"));
  EXPECT_THAT(Findings(trace), ElementsAre("several_processes 2 "));
}

TEST(RocprofCsvReader, QueuesOfTwoProcessesAreTwoLanes) {
  const auto trace = ReadText(k70, Row70(1, 100, 200) + std::string(k70) + Row70(1, 150, 250));
  ASSERT_EQ(trace->lanes.size(), 2u);
  EXPECT_EQ(trace->lanes[0].process, 1);
  EXPECT_EQ(trace->lanes[1].process, 2);
  EXPECT_THAT(Findings(trace), ElementsAre("several_processes 2 "));
}

TEST(RocprofCsvReader, CountsARepeatedRecordOnce) {
  const std::string rows = Row70(1, 100, 200) + Row70(2, 200, 300);
  const auto trace = ReadText(k70, rows + rows);
  EXPECT_EQ(trace->size(), 2u);
  EXPECT_THAT(Findings(trace), ElementsAre("out_of_order 1 ", "duplicate_dispatches 2 "));
}

TEST(RocprofCsvReader, ReadsOneProcessOfRocprofV1) {
  const auto row = [](int pid, int start) {
    return fmt::format("0,\"k.kd\",2,0,0,{},1,1,1,0,0,16,0,128,32,\"0\",\"0\",1,{},{},1,1\n", pid,
                       start, start + 1);
  };
  const std::string rows = row(77, 10) + row(78, 20);
  EXPECT_THAT(Findings(ReadText(kV1, rows)), ElementsAre("several_processes 2 "));
  ReadOptions one;
  one.process = 78;
  const auto trace = ReadText(kV1, rows, one);
  EXPECT_THAT(Dump(trace), ElementsAre("20-21 k 1,1,1/1,1,1 device 2 0 -"));
  EXPECT_THAT(Findings(trace), ElementsAre());
}

TEST(RocprofCsvReader, SaysWhenNamesWereCut) {
  const auto trace = ReadText(
      k70, Row70(1, 10, 20, "void mul_mat_vec_q<(ggml_type)12, 1, false, false>(void const*, ") +
               Row70(2, 30, 40, "bool operator< <int>(int)") + Row70(3, 50, 60, "Cijk_Ailk…"));
  EXPECT_THAT(Findings(trace),
              ElementsAre("truncated_names 2 void mul_mat_vec_q<(ggml_type)12, 1, false, "
                          "false>(void const*, "));
}

TEST(RocprofCsvReader, KeepsHostileNamesAsTheyAre) {
  const std::string long_name(64 * 1024, 'x');
  for (const std::string& name :
       {std::string("\x1b[2J\x1b[31m"), std::string("<script>alert(1)</script>"),
        std::string("a,b\n,c"), std::string("\xff\xfe\xc3"), std::string("nul\0nul", 7),
        long_name}) {
    const auto trace = ReadText(k70, Row70(1, 10, 20, name));
    ASSERT_TRUE(trace.has_value());
    EXPECT_EQ(trace->kernel_name(trace->kernel[0]), name);
  }
  const auto quoted = ReadText(k70, Row70(1, 10, 20, "operator\"\"\"\" _km(\"\"\"\")"));
  EXPECT_EQ(quoted->kernel_name(quoted->kernel[0]), "operator\"\" _km(\"\")");
}

TEST(RocprofCsvReader, RefusesStampsThatAreAllZero) {
  EXPECT_EQ(ReadText(k70, Row70(1, 0, 0)).error().code, ErrorCode::kDamagedTrace);
}

// Cut anywhere, a file yields the rows that are whole and says that the rest is torn.
TEST(RocprofCsvReader, ReadsWhatIsWholeOfATornFile) {
  const std::string rows = Row70(1, 100, 200) + Row70(2, 300, 400) + Row70(3, 500, 600);
  const std::size_t row = rows.size() / 3;
  for (std::size_t cut = 0; cut < rows.size(); ++cut) {
    const auto trace = ReadText(k70, rows.substr(0, cut));
    if (cut < row) {
      EXPECT_FALSE(trace.has_value());
      continue;
    }
    EXPECT_EQ(trace->size(), cut / row);
    EXPECT_EQ(trace->diagnostics.count(Finding::kTornTail), cut % row == 0 ? 0 : 1) << cut;
  }
  for (std::size_t cut = 1; cut < k70.size(); ++cut) {
    EXPECT_FALSE(ReadText(k70.substr(0, cut), "").has_value());
  }
}

std::string Gzipped(std::string text) {
  std::string packed(compressBound(text.size()) + 64, '\0');
  z_stream z{};
  deflateInit2(&z, Z_NO_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  z.next_in = reinterpret_cast<Bytef*>(text.data());
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(packed.data());
  z.avail_out = static_cast<uInt>(packed.size());
  deflate(&z, Z_FINISH);
  packed.resize(z.total_out);
  deflateEnd(&z);
  return packed;
}

TEST(RocprofCsvReader, ReadsACompressedFileUpToItsBreak) {
  const std::string text = std::string(k70) + Row70(1, 100, 200) + Row70(2, 300, 400);
  EXPECT_EQ(ReadText(Gzipped(text), "")->size(), 2u);
  const auto trace = ReadText(Gzipped(text).substr(0, text.size() - 1), "");
  EXPECT_THAT(Dump(trace), ElementsAre("100-200 k() 2,1,1/32,1,1 device 1 2 2"));
  EXPECT_THAT(Findings(trace), ElementsAre("truncated_file 1 the compressed file breaks off"));
}

TEST(RocprofCsvReader, SaysThatAFileOfHeadersHasNoDispatch) {
  EXPECT_THAT(Dump(ReadText(k70, "")),
              ElementsAre(HasSubstr("is a rocprofv3 CSV file without a single dispatch")));
}

std::string Sniffed(const std::string& text) {
  const Verdict verdict = Sniff(sys::Source::FromMemory("t.csv", text));
  if (std::holds_alternative<Mine>(verdict)) return "mine";
  if (const auto* refused = std::get_if<Refused>(&verdict)) return refused->error.message;
  return "not mine";
}

TEST(RocprofCsvSniff, KnowsKernelTraces) {
  for (const std::string_view header : {k62, k63, k70, kConvert, kV1}) {
    EXPECT_EQ(Sniffed(std::string(header)), "mine");
    EXPECT_EQ(Sniffed("\xEF\xBB\xBF" + std::string(header)), "mine");
  }
}

TEST(RocprofCsvSniff, LeavesOtherFilesAlone) {
  for (const std::string text :
       {"", "\n", "{\"traceEvents\": []}", "SQLite format 3", "a,b,c\n", "\"unclosed", "Kind\n"}) {
    EXPECT_EQ(Sniffed(text), "not mine") << text;
  }
}

TEST(RocprofCsvSniff, RefusesTablesThatAreNoKernelTrace) {
  EXPECT_THAT(Sniffed("\"Dispatch_Id\",\"Kernel_Name\",\"Counter_Name\",\"Counter_Value\"\n"),
              HasSubstr("is a counter collection"));
  EXPECT_THAT(Sniffed("\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\"\n"),
              HasSubstr("is a table of totals (--stats)"));
  EXPECT_THAT(Sniffed("\"Domain\",\"Function\",\"Process_Id\",\"Thread_Id\"\n"),
              HasSubstr("is a trace of calls on the host"));
  EXPECT_THAT(Sniffed("\"Guid\",\"Domain\",\"Function\",\"Process_Id\"\n"),
              HasSubstr("is a trace of calls on the host"));
  EXPECT_THAT(Sniffed("\"Kind\",\"Direction\",\"Source_Agent_Id\",\"Destination_Agent_Id\"\n"),
              HasSubstr("is a trace of memory copies alone"));
  EXPECT_THAT(Sniffed("\"Node_Id\",\"Logical_Node_Id\",\"Agent_Type\",\"Cpu_Cores_Count\"\n"),
              HasSubstr("is a list of devices"));
  EXPECT_THAT(Sniffed("Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,Name\n"),
              HasSubstr("is a report of nsys stats"));
}

}  // namespace
}  // namespace culprit::trace::rocprof_csv
