// From a server, here a fake one, through the preloaded library and the collector to the trace.
#include "collect/ggml_ops/ggml_ops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>

#include "sys/host_time.h"
#include "sys/sample_files.h"
#include "sys/text_file.h"
#include "trace/registry.h"

namespace culprit::collect::ggml_ops {
namespace {

using base::ErrorCode;
using base::Finding;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class GgmlOpsCollector : public testing::Test {
 protected:
  // Starts a server and waits until it has computed.
  sys::Process Start(GgmlOps& collector, const std::vector<std::string>& arguments) {
    auto launch = collector.Prepare({SERVER, sys::OwnEnvironment()}, {folder_.path(), ""}, stop_);
    EXPECT_TRUE(launch) << launch.error().Text();
    launch->environment.insert(launch->environment.end(), backend_.begin(), backend_.end());
    sys::ProcessOptions options{.argv = {SERVER}, .output_file = Output()};
    options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
    for (const auto& change : launch->environment) {
      options.environment =
          sys::WithVariable(options.environment, change.key, change.value.value());
    }
    request_.sent = sys::BoottimeNow();
    auto server = sys::Process::Start(options);
    EXPECT_TRUE(server) << server.error().Text();
    const auto deadline = std::chrono::steady_clock::now() + seconds(60);
    while (!Said("ready") && !server->Poll() && std::chrono::steady_clock::now() < deadline) {
      static_cast<void>(server->WaitFor(std::chrono::milliseconds(5), stop_));
    }
    request_.ended = sys::BoottimeNow();
    return *std::move(server);
  }

  std::string Output() { return folder_.path() + "/server.log"; }
  bool Said(std::string_view text) {
    return sys::ReadText(Output()).value_or("").find(text) != std::string::npos;
  }
  base::Result<Collected> Collect(GgmlOps& collector, const std::vector<std::string>& arguments) {
    sys::Process server = Start(collector, arguments);
    return collector.Finish(server, request_, stop_);
  }
  std::vector<std::string> KernelsIn(const std::string& name) {
    const auto trace = trace::ReadTrace(folder_.path() + "/" + name);
    EXPECT_TRUE(trace) << trace.error().Text();
    std::vector<std::string> names;
    for (std::size_t i = 0; trace && i < trace->size(); ++i) {
      names.emplace_back(trace->kernel_name(trace->kernel[i]));
    }
    return names;
  }

  sys::SampleFolder folder_;
  sys::StopSignal stop_;
  RequestTimes request_{};
  std::vector<experiment::EnvironmentChange> backend_;  // what the fake one is like
};

constexpr const char* kNorm = "RMS_NORM<ffn_gate, F32>";
constexpr const char* kScale = "MUL<ffn_norm, F32>";
constexpr const char* kBoth = "RMS_NORM+MUL<ffn_norm, F32>";
constexpr const char* kProduct = "MUL_MAT<ffn_gate, Q8_0>";
constexpr const char* kDup = "DUP<not wanted, F32>";
constexpr const char* kSilu = "SILU<ffn_gate, F32>";

TEST_F(GgmlOpsCollector, RecordsTheNodesThatDoWork) {
  GgmlOps collector(PROGRAM_FOLDER);
  const auto collected = Collect(collector, {"serve", "1"});
  ASSERT_TRUE(collected) << collected.error().Text();
  EXPECT_THAT(collected->others, IsEmpty());
  EXPECT_THAT(KernelsIn(collected->file), ElementsAre(kNorm, kScale, kProduct, kDup, kSilu));
  const auto trace = trace::ReadTrace(folder_.path() + "/" + collected->file);
  EXPECT_THAT(trace->layer, ElementsAre(3, 3, 3, 3, 3));
  EXPECT_EQ(trace->devices.at(0).name, "FAKE0");
  EXPECT_THAT(trace->diagnostics.entries(), IsEmpty());
  EXPECT_GE(trace->start.front().time_since_epoch(), request_.sent.time_since_epoch());
  EXPECT_LE(trace->end.back().time_since_epoch(), request_.ended.time_since_epoch());
}

TEST_F(GgmlOpsCollector, WritesManyChunksAndDropsNothing) {
  GgmlOps collector(PROGRAM_FOLDER);
  const auto collected = Collect(collector, {"serve", "20000"});
  ASSERT_TRUE(collected) << collected.error().Text();
  const auto trace = trace::ReadTrace(folder_.path() + "/" + collected->file);
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->size(), 100'000u);
  EXPECT_EQ(trace->kernels.size(), 5u);
  EXPECT_THAT(trace->diagnostics.entries(), IsEmpty());
}

TEST_F(GgmlOpsCollector, LeavesTheServersOwnCallbackAlone) {
  GgmlOps collector(PROGRAM_FOLDER);
  const auto collected = Collect(collector, {"asks", "2"});
  ASSERT_TRUE(collected) << collected.error().Text();
  EXPECT_TRUE(Said("asked 11 told 10"));
  EXPECT_THAT(KernelsIn(collected->file),
              ElementsAre(kNorm, kScale, kProduct, kDup, kSilu, kNorm, kScale, kProduct));
}

TEST_F(GgmlOpsCollector, WatchesACpuThatComputesAllAtOnce) {
  GgmlOps collector(PROGRAM_FOLDER);
  backend_ = {{"FAKE_BACKEND", "CPU"}};
  const auto collected = Collect(collector, {"serve", "2"});
  ASSERT_TRUE(collected) << collected.error().Text();
  EXPECT_THAT(KernelsIn(collected->file),
              ElementsAre(kBoth, kProduct, kSilu, kBoth, kProduct, kSilu));
  const auto trace = trace::ReadTrace(folder_.path() + "/" + collected->file);
  EXPECT_THAT(trace->diagnostics.entries(), IsEmpty());
}

TEST_F(GgmlOpsCollector, AsksForEachNodeOfACpuThatMiscounts) {
  GgmlOps collector(PROGRAM_FOLDER);
  backend_ = {{"FAKE_BACKEND", "CPU"}, {"FAKE_MISCOUNTS", "1"}};
  const auto collected = Collect(collector, {"serve", "2"});
  ASSERT_TRUE(collected) << collected.error().Text();
  EXPECT_THAT(KernelsIn(collected->file), ElementsAre(kNorm, kScale, kProduct, kDup, kSilu));
  const auto trace = trace::ReadTrace(folder_.path() + "/" + collected->file);
  EXPECT_EQ(trace->diagnostics.count(Finding::kDroppedRecords), 5) << "those of the first graph";
}

TEST_F(GgmlOpsCollector, KeepsWhatACrashingServerDid) {
  GgmlOps collector(PROGRAM_FOLDER);
  sys::Process server = Start(collector, {"crash", "1"});
  const std::string file = std::to_string(server.identity().pid) + ".ggml-ops";
  const auto collected = collector.Finish(server, request_, stop_);
  ASSERT_FALSE(collected);
  EXPECT_EQ(collected.error().code, ErrorCode::kDamagedTrace);
  EXPECT_EQ(collected.error().message, "the server crashed (signal 6) while it was traced");
  EXPECT_THAT(KernelsIn(file), ElementsAre(kNorm, kScale, kProduct, kDup, kSilu));
}

TEST_F(GgmlOpsCollector, KillsAServerThatDoesNotEnd) {
  GgmlOps collector(PROGRAM_FOLDER, std::chrono::milliseconds(100));
  sys::Process server = Start(collector, {"stuck", "2"});
  const auto identity = server.identity();
  const auto collected = collector.Finish(server, request_, stop_);
  ASSERT_FALSE(collected);
  EXPECT_EQ(collected.error().message,
            "the server had to be killed before the trace had its end: what it computed last is "
            "missing");
  EXPECT_FALSE(sys::IsAlive(identity));
  const std::string file = std::to_string(identity.pid) + ".ggml-ops";
  const auto trace = trace::ReadTrace(folder_.path() + "/" + file);
  ASSERT_TRUE(trace) << trace.error().Text();
  EXPECT_TRUE(trace->diagnostics.Has(Finding::kNoEnd));
}

TEST_F(GgmlOpsCollector, FindsTheServerBehindAScript) {
  GgmlOps collector(PROGRAM_FOLDER);
  const auto collected = Collect(collector, {"child", "1"});
  ASSERT_TRUE(collected) << collected.error().Text();
  EXPECT_THAT(KernelsIn(collected->file), ElementsAre(kNorm, kScale, kProduct, kDup, kSilu));
}

TEST_F(GgmlOpsCollector, SaysThatNothingWasComputed) {
  GgmlOps collector(PROGRAM_FOLDER);
  const auto collected = Collect(collector, {"nothing"});
  ASSERT_FALSE(collected);
  EXPECT_EQ(collected.error().code, ErrorCode::kNotATrace);
}

TEST_F(GgmlOpsCollector, KillsTheServerWhenTheUserStops) {
  GgmlOps collector(PROGRAM_FOLDER);
  sys::Process server = Start(collector, {"stuck"});
  stop_.Request();
  const auto collected = collector.Finish(server, request_, stop_);
  ASSERT_FALSE(collected);
  EXPECT_EQ(collected.error().code, ErrorCode::kInterrupted);
  EXPECT_FALSE(sys::IsAlive(server.identity()));
}

TEST_F(GgmlOpsCollector, RefusesWhatNothingCanBePreloadedInto) {
  GgmlOps collector(PROGRAM_FOLDER);
  const auto linked = collector.Check({LINKED_SERVER, sys::OwnEnvironment()}, stop_);
  ASSERT_FALSE(linked);
  EXPECT_EQ(linked.error().code, ErrorCode::kServer);
  EXPECT_THAT(linked.error().message, HasSubstr("libggml is linked into it"));
  const auto missing = GgmlOps(folder_.path()).Check({SERVER, sys::OwnEnvironment()}, stop_);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kEnvironment);
}

TEST_F(GgmlOpsCollector, TakesTheRealServer) {
  const char* const server = std::getenv("CULPRIT_LLAMA_SERVER");
  if (server == nullptr) GTEST_SKIP() << "CULPRIT_LLAMA_SERVER names no llama-server";
  const auto launch = GgmlOps(PROGRAM_FOLDER).Check({server, sys::OwnEnvironment()}, stop_);
  EXPECT_TRUE(launch) << launch.error().Text();
}

TEST_F(GgmlOpsCollector, PreloadsInFrontOfTheVariantsOwn) {
  GgmlOps collector(PROGRAM_FOLDER);
  const auto launch =
      collector.Prepare({SERVER, sys::WithVariable(sys::OwnEnvironment(), "LD_PRELOAD", "own.so")},
                        {folder_.path(), ""}, stop_);
  ASSERT_TRUE(launch) << launch.error().Text();
  ASSERT_EQ(launch->environment.size(), 2u);
  EXPECT_EQ(launch->environment[0].key, "LD_PRELOAD");
  EXPECT_THAT(*launch->environment[0].value, StartsWith("/"));
  EXPECT_THAT(*launch->environment[0].value, HasSubstr("libculprit_ggml_ops.so:own.so"));
}

}  // namespace
}  // namespace culprit::collect::ggml_ops
