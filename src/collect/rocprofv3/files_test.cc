#include "collect/rocprofv3/files.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "sys/sample_files.h"

namespace culprit::collect::rocprofv3 {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

void Write(const std::string& path, std::size_t bytes) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path) << std::string(bytes, 'x');
}

TEST(RocprofFiles, TellsTheServersTraceFromOthers) {
  const sys::SampleFolder folder;
  const std::string traces = folder.path() + "/t", spill = folder.path() + "/s";
  Write(traces + "/trace-47_results.db", 10);
  Write(traces + "/trace-47_results.db-journal", 5);
  Write(traces + "/trace-4_results.db", 100);
  Write(traces + "/host/trace-471_kernel_trace.csv", 1000);
  Write(traces + "/trace-47_agent_info.csv", 7);
  Write(spill + "/.rocprofv3/1-47-kernel_dispatch.dat", 10000);
  const Files files = ListFiles(traces, spill, 47, {});
  EXPECT_EQ(files.trace, traces + "/trace-47_results.db");
  EXPECT_EQ(files.trace_bytes, 10u);
  EXPECT_THAT(files.others, ElementsAre(traces + "/host/trace-471_kernel_trace.csv",
                                        traces + "/trace-4_results.db"));
  EXPECT_EQ(files.bytes, 11122u);
}

// A pass of counters may leave a database beside, which is not what was asked for.
TEST(RocprofFiles, AreThoseOfThePass) {
  const sys::SampleFolder folder;
  const std::string traces = folder.path() + "/t";
  Write(traces + "/trace-47_results.db", 10);
  Write(traces + "/pmc_1/trace-47_counter_collection.csv", 20);
  Write(traces + "/trace-48_counter_collection.csv", 30);
  const Files files = ListFiles(traces, "/none/s", 47, {.counters = {"SQ_WAVES"}});
  EXPECT_EQ(files.trace, traces + "/pmc_1/trace-47_counter_collection.csv");
  EXPECT_THAT(files.others, ElementsAre(traces + "/trace-48_counter_collection.csv"));
}

TEST(RocprofFiles, AreNoneWhereThereIsNoFolder) {
  const Files files = ListFiles("/none/t", "/none/s", 47, {});
  EXPECT_EQ(files.trace, "");
  EXPECT_THAT(files.others, IsEmpty());
  EXPECT_EQ(files.bytes, 0u);
}

}  // namespace
}  // namespace culprit::collect::rocprofv3
