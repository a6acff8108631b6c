// Real recordings: how much of their time the shipped rules know, and what it costs by category.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <ostream>
#include <string>

#include "analysis/classify.h"
#include "analysis/launch_groups.h"
#include "analysis/ownership.h"
#include "sys/source.h"
#include "trace/registry.h"

namespace culprit::analysis {
namespace {

std::string Sample(const std::string& name) {
  const char* folder = std::getenv("CULPRIT_SAMPLES");
  return (folder != nullptr ? std::string(folder) : CULPRIT_SOURCE_DIR "/../shared/samples") + "/" +
         name;
}

// Share of the exclusive time of a whole trace that falls to each category.
std::map<std::string, double> SharesOf(const trace::Trace& trace) {
  Window window{trace.start.front(), trace.start.front()};
  for (const base::TraceTime end : trace.end) window.end = std::max(window.end, end);
  SetDispatchRange(trace, window);
  const LaunchGroups groups = GroupLaunches(trace, window.first, window.last);
  const Classification classes =
      Classify(trace, window, groups, std::nullopt, std::nullopt, ShippedRules());
  const Ownership ownership = Own(trace, window);
  std::map<std::string, double> shares;
  double all = 0;
  for (std::size_t i = 0; i < classes.of.size(); ++i) {
    const auto exclusive = static_cast<double>(ownership.exclusive[i].count());
    shares[classes.classes[classes.of[i].index()].category] += exclusive;
    all += exclusive;
  }
  for (auto& [category, share] : shares) share /= all;
  return shares;
}

struct Recording {
  const char* file;
  const char* expected;  // a category that must have at least a hundredth of the time

  // The name of the test.
  friend void PrintTo(const Recording& recording, std::ostream* out) { *out << recording.file; }
};

class Coverage : public testing::TestWithParam<Recording> {};

TEST_P(Coverage, KnowsAtLeast99PercentOfTheTime) {
  const std::string path = Sample(GetParam().file);
  if (!std::filesystem::exists(path))
    GTEST_SKIP() << "no sample " << path << "; set CULPRIT_SAMPLES";
  const auto trace = trace::ReadTrace(path);
  ASSERT_TRUE(trace.has_value()) << trace.error().Text();
  auto shares = SharesOf(*trace);
  EXPECT_LE(shares[std::string(kUnclassified)], 0.01);
  EXPECT_GE(shares[GetParam().expected], 0.01) << GetParam().expected;
}

INSTANTIATE_TEST_SUITE_P(
    Recordings, Coverage,
    testing::Values(
        Recording{"h200-20k/f16/results.db.xz", "MoE down"},
        Recording{"h200-20k/q4/results.db.xz", "KV rotation"},
        Recording{"h200-20k/nofa/results.db.xz", "attention without FA"},
        Recording{"h200-20k/spec/results.db.xz", "draft head"},
        Recording{"public/rocprofv3_gfx1151_llamacpp_decode_kernel_trace.csv",
                  "SSM/linear attention"},
        Recording{"public/rocprofv3_gfx1151_llamacpp_prefill_kernel_trace.csv", "LM head"},
        Recording{"public/rocprofv1_gfx1201_llamacpp_results.csv", "attention without FA"},
        Recording{"public/rocprofv3_json_mi350_908_results.json.gz", "collectives"},
        Recording{"public/kineto_rocm_vllm_decode_full_graph_execution.json.gz", "MoE down"},
        Recording{"public/kineto_mi300_qwen1.5-0.5b-chat.json.gz", "flash attention"},
        Recording{"public-no-licence/rocpd_mi300x_ck_bmm_28_results.db", "dense float/GEMM"},
        Recording{"public-no-licence/nsys_report1_memfusion.sqlite", "convolution"}));

// Host functions share the list with kernels: what the CUDA runtime, the C++ library and ggml's own
// bookkeeping left in the symbol table, and strings that the linker had shortened.
bool IsHostSymbol(std::string_view symbol, const KernelName& name) {
  for (const std::string_view word :
       {"cuda::std::", "std::", "ggml_cuda_", "ggml_get_", "nvtx3::", "cub::", "thrust::", "init",
        "launch_", "operator", "guard"}) {
    if (name.base.starts_with(word)) return true;
  }
  return symbol.starts_with("_ZTV") || symbol.starts_with("_ZTI") || symbol.starts_with("_ZTS") ||
         symbol.starts_with("_ZGV") || name.base == symbol || name.base == "cub" ||
         name.base.ends_with("_cuda");
}

TEST(KernelNames, OfGgmlAreKnown) {
  const std::string path = Sample("kernel-names/ggml-cuda-0.27.0.txt.xz");
  if (!std::filesystem::exists(path))
    GTEST_SKIP() << "no sample " << path << "; set CULPRIT_SAMPLES";
  const auto source = sys::Source::Open(path);
  ASSERT_TRUE(source.has_value()) << source.error().Text();
  const auto bytes = source->ReadAll();
  ASSERT_TRUE(bytes.has_value()) << bytes.error().Text();
  int kernels = 0, unknown = 0;
  std::string unknown_names;
  std::string_view rest = bytes->view();
  while (!rest.empty()) {
    const std::string_view symbol = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), symbol.size() + 1));
    const Explanation explained = Explain(symbol, trace::WorkKind::kKernel, {}, ShippedRules());
    const bool known = explained.outcomes.back().category != kUnclassified;
    if (!known && IsHostSymbol(symbol, explained.name)) continue;
    ++kernels;
    if (known) continue;
    ++unknown;
    unknown_names += std::string(symbol) + "\n";
  }
  EXPECT_GT(kernels, 6500);
  EXPECT_LE(unknown, kernels / 1000) << unknown_names;
}

}  // namespace
}  // namespace culprit::analysis
