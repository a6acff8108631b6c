#include "store/trial_folder.h"

#include <gtest/gtest.h>

#include <fstream>

#include "sys/sample_files.h"

namespace culprit::store {
namespace {

class TrialFolder : public testing::Test {
 protected:
  std::string Touch(const std::string& name) {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path) << "x";
    return path;
  }
  const sys::SampleFolder sample_;
  const std::string folder_ = sample_.path();
};

TEST_F(TrialFolder, TakesATraceWithItsCompanions) {
  const auto trace = Touch("results.db.xz");
  const auto request = Touch("request.json");
  const auto log = Touch("server.log");
  const auto first = Touch("untraced-0.json");
  const auto second = Touch("untraced-1.json");
  Touch("README.md");
  const auto files = FindTrialFiles(folder_);
  ASSERT_TRUE(files) << files.error().Text();
  EXPECT_EQ(files->trace, trace);
  EXPECT_EQ(files->request, request);
  EXPECT_EQ(files->log, log);
  EXPECT_EQ(files->untraced, (std::vector{first, second}));
}

TEST_F(TrialFolder, PrefersTheKernelTraceAmongCsvFiles) {
  Touch("4242_hip_api_trace.csv");
  Touch("4242_agent_info.csv");
  const auto trace = Touch("4242_kernel_trace.csv");
  const auto files = FindTrialFiles(folder_);
  ASSERT_TRUE(files) << files.error().Text();
  EXPECT_EQ(files->trace, trace);
}

TEST_F(TrialFolder, AFileTakesNoCompanionsFromAFolderOfSeveralTraces) {
  const auto a = Touch("a.csv");
  Touch("b.csv");
  Touch("request.json");
  const auto files = FindTrialFiles(a);
  ASSERT_TRUE(files);
  EXPECT_EQ(files->trace, a);
  EXPECT_FALSE(files->request);
}

TEST_F(TrialFolder, RefusesNoTraceAndSeveralTraces) {
  EXPECT_EQ(FindTrialFiles(folder_).error().Text(),
            folder_ +
                ": is a folder without a trace; a trace is a profiler's *.db, *.sqlite, *.csv, "
                "*.json or *.ggml-ops, plain or .gz or .xz");
  const auto a = Touch("1_results.db");
  const auto b = Touch("2_results.db");
  EXPECT_EQ(FindTrialFiles(folder_).error().Text(),
            folder_ + ": is a folder with several traces: " + a + ", " + b + "; give the file");
  EXPECT_EQ(FindTrialFiles(folder_ + "/none").error().code, base::ErrorCode::kNotFound);
}

}  // namespace
}  // namespace culprit::store
