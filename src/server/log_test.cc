#include "server/log.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace culprit::server {
namespace {

using base::Steps;
using base::Tokens;

// Lines of llama.cpp 0.7.0 with a draft model.
TEST(ServerLog, ReadsTheOneLineFormatWithDraftCounters) {
  const auto log = ParseLog(
      "0.01.377.604 I print_info: n_expert              = 128\n"
      "0.01.377.604 I print_info: n_expert_used         = 8\n"
      "0.01.377.615 I print_info: n_vocab               = 151936\n"
      "0.04.023.400 I print_info: n_vocab               = 32000\n"
      "0.09.048.219 I slot print_timing: id  0 | task 0 | prompt eval time =    1599.98 ms / 20000 "
      "tokens (    0.08 ms per token, 12500.16 tokens per second)\n"
      "0.09.048.223 I slot print_timing: id  0 | task 0 |        eval time =    2049.17 ms /   512 "
      "tokens (    4.01 ms per token,   249.37 tokens per second)\n"
      "0.09.048.230 I slot print_timing: id  0 | task 0 | draft acceptance = 0.56890 (  322 "
      "accepted /   566 generated), mean len =  2.70\n");
  ASSERT_EQ(log.requests.size(), 1u);
  EXPECT_EQ(log.requests[0].prompt, Tokens(20000));
  EXPECT_EQ(log.requests[0].prompt_time, base::NanosF(1599.98e6));
  EXPECT_EQ(log.requests[0].predicted, Tokens(512));
  EXPECT_EQ(log.requests[0].predicted_time, base::NanosF(2049.17e6));
  EXPECT_EQ(log.requests[0].steps(), Steps(189));
  EXPECT_EQ(log.vocabulary, 151936) << "the first model is the target";
  EXPECT_EQ(log.experts_used, 8);
}

// Lines of a build of 2026-05: three lines after print_timing, no prefix.
TEST(ServerLog, ReadsTheThreeLineFormatOfOlderBuilds) {
  const auto log = ParseLog(
      "build_info: b1-e77056f\n"
      "slot print_timing: id  0 | task 0 | \n"
      "prompt eval time =     141.53 ms /    24 tokens (    5.90 ms per token,   169.58 tokens per "
      "second)\n"
      "       eval time =    2393.53 ms /   128 tokens (   18.70 ms per token,    53.48 tokens per "
      "second)\n"
      "      total time =    2535.06 ms /   152 tokens\n"
      "draft acceptance rate = 0.97000 (   97 accepted /   100 generated)\n");
  ASSERT_EQ(log.requests.size(), 1u);
  EXPECT_EQ(log.requests[0].predicted, Tokens(128));
  EXPECT_EQ(log.requests[0].steps(), Steps(30));
  EXPECT_EQ(log.build, "b1-e77056f");
}

// Lines of llama.cpp 0.7.0 at -lv 4 on an H200.
TEST(ServerLog, ReadsWhatAVerboseServerSaysOfItself) {
  const auto log = ParseLog(
      "0.00.011.920 I load_backend: loaded CUDA backend from /opt/ggml/libggml-cuda.so\n"
      "0.00.011.921 I load_backend: loaded CPU backend from /opt/ggml/libggml-cpu-zen4.so\n"
      "0.00.177.078 I cmn  common_param: common_params_print_info: build 11669 (Debian) with GNU "
      "16.2.0 for Linux x86_64\n"
      "0.00.290.421 I cmn  common_param: system_info: n_threads = 16 (n_threads_batch = 16) / 16 | "
      "CUDA : ARCHS = 500\n"
      "0.00.292.397 I srv    load_model: loading model '/models/m.gguf'\n"
      "0.00.655.457 I llama_prepare_model_devices: using device CUDA0 (NVIDIA H200) "
      "(0000:00:06.0) - 142615 MiB free\n"
      "0.00.799.972 I print_info: general.name          = rand-moe\n"
      "0.01.128.115 I load_tensors: offloaded 25/25 layers to GPU\n"
      "0.02.508.081 I llama_context: constructing llama_context\n"
      "0.02.508.086 I llama_context: n_ctx                 = 32768\n"
      "0.02.508.086 I llama_context: n_ctx_seq             = 32768\n"
      "0.02.508.090 I llama_context: flash_attn            = auto\n"
      "0.02.511.817 I llama_kv_cache:      CUDA0 KV buffer size =   400.00 MiB\n"
      "0.02.511.818 I llama_kv_cache:        CPU KV buffer size =    32.00 MiB\n"
      "0.02.511.987 I llama_kv_cache: size =  432.00 MiB ( 32768 cells,  24 layers,  1/1 seqs), K "
      "(q4_0):  216.00 MiB, V (f16):  216.00 MiB\n"
      "0.02.512.000 I resolve_fused_ops: Flash Attention enabled\n"
      "0.03.000.000 I load_tensors: offloaded 3/3 layers to GPU\n"
      "0.03.508.081 I llama_context: constructing llama_context\n"
      "0.03.508.086 I llama_context: n_ctx                 = 4096\n"
      "0.03.511.987 I llama_kv_cache: size =    8.50 MiB (  4096 cells,   4 layers,  1/1 seqs), K "
      "(f16):    4.25 MiB, V (f16):    4.25 MiB\n"
      "0.04.108.760 I slot print_timing: id  0 | task 0 |    graphs reused =          3\n");
  EXPECT_EQ(log.backends, (std::vector<std::string>{"CUDA", "CPU"}));
  EXPECT_EQ(log.build, "11669 (Debian) with GNU 16.2.0 for Linux x86_64");
  EXPECT_EQ(log.threads, 16);
  EXPECT_EQ(log.model_path, "/models/m.gguf");
  EXPECT_EQ(log.model_name, "rand-moe");
  EXPECT_EQ(log.devices, (std::vector<std::string>{"CUDA0 (NVIDIA H200)"}));
  EXPECT_EQ(log.layers, (LayersOffloaded{25, 25})) << "the first model is the target";
  const LogContext target{32768, "enabled", KvCache{432, "q4_0", "f16"}};
  const LogContext draft{4096, std::nullopt, KvCache{8.5, "f16", "f16"}};
  EXPECT_EQ(log.contexts, (std::vector<LogContext>{target, draft}));
  EXPECT_EQ(log.kv_mib(), 440.5);
  EXPECT_EQ(log.graphs_reused, 3);
  EXPECT_TRUE(log.warnings.empty());
}

// A real log of 2026-05, one Strix Halo.
TEST(ServerLog, ReadsAWholeLogOfAnOlderBuild) {
  const char* samples = std::getenv("CULPRIT_SAMPLES");
  const std::string folder = samples != nullptr ? samples : CULPRIT_SOURCE_DIR "/../shared/samples";
  std::ifstream file(folder + "/public/llama-server_gfx1151_rocm_np1.log");
  if (!file) GTEST_SKIP() << "the sample recordings are not here";
  const auto log = ParseLog(std::string(std::istreambuf_iterator<char>(file), {}));
  EXPECT_EQ(log.build, "b1-e77056f");
  EXPECT_EQ(log.threads, 16);
  EXPECT_EQ(log.model_path, "/home/user/models/Qwen3.6-35B-A3B-UD-Q4_K_M.gguf");
  EXPECT_EQ(log.model_name, "Qwen3.6-35B-A3B");
  EXPECT_EQ(log.devices, (std::vector<std::string>{"ROCm0 (Radeon 8060S Graphics)"}));
  EXPECT_EQ(log.layers, (LayersOffloaded{41, 41}));
  EXPECT_EQ(log.contexts, (std::vector<LogContext>{{4096, "enabled", KvCache{80, "f16", "f16"}}}));
  EXPECT_EQ(log.requests.front().predicted, Tokens(128));
}

TEST(ServerLog, KeepsWarningsOfBackendsThatLackSomething) {
  const auto log = ParseLog("warning: no usable GPU found, --gpu-layers option will be ignored\n");
  EXPECT_EQ(log.warnings,
            (std::vector<std::string>{
                "warning: no usable GPU found, --gpu-layers option will be ignored"}));
}

TEST(ServerLog, OfSomethingElseIsEmpty) {
  const auto log = ParseLog("hello\nKV buffer size = x MiB\noffloaded 1/\nflash_attn = \n");
  EXPECT_TRUE(log.contexts.empty());
  EXPECT_EQ(log.kv_mib(), std::nullopt);
  EXPECT_EQ(log.layers, std::nullopt);
}

TEST(ServerLog, LeavesOutABlockThatBreaksOff) {
  EXPECT_TRUE(ParseLog("prompt eval time = 1.0 ms / 2 tokens (").requests.empty());
  EXPECT_TRUE(ParseLog("eval time = 1.0 ms / 2 tokens (").requests.empty());
  EXPECT_TRUE(ParseLog("prompt eval time = nan ms / 2 tokens\neval time = 1 ms / 3 tokens")
                  .requests.empty());
}

TEST(ServerLog, LeavesOutWhatNoRequestCanTake) {
  for (const char* line : {"eval time = 1e300 ms / 3 tokens", "eval time = -1 ms / 3 tokens",
                           "eval time = 1 ms / 9223372036854775807 tokens"}) {
    const auto log = ParseLog(std::string("prompt eval time = 1 ms / 2 tokens\n") + line);
    EXPECT_TRUE(log.requests.empty()) << line;
  }
}

}  // namespace
}  // namespace culprit::server
