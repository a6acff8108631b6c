#include "analysis/difference.h"

#include <gtest/gtest.h>

#include "trace/builder.h"

namespace culprit::analysis {
namespace {

using base::Nanos;
using base::Tokens;

// A run that starts, prefills for 5 ms and decodes tokens of 1 ms with two kernels each.
Analysis DecodeRun(int tokens, int lost = 0) {
  trace::TraceBuilder builder("test", "memory");
  const auto prefill = builder.AddKernel("void mul_mat_q<(ggml_type)12, 128, false>(char const*)");
  const auto norm = builder.AddKernel("void rms_norm_f32<1024, true, false>(float const*)");
  const auto matrix = builder.AddKernel("void mul_mat_vec_q<(ggml_type)12, 1>(void const*)");
  const auto shape = builder.AddGeometry({.grid = {64, 1, 1}, .block = {32, 4, 1}});
  const auto lane = builder.AddLane(0, std::nullopt, 1);
  builder.AddDispatch(1'000, 5'001'000, prefill, shape, lane);
  for (int i = 0; i < tokens; ++i) {
    const std::int64_t at = 6'000'000 + 1'000'000 * std::int64_t{i};
    builder.AddDispatch(at, at + 200'000, norm, shape, lane);
    if (i >= lost) builder.AddDispatch(at + 300'000, at + 900'000, matrix, shape, lane);
  }
  auto trace = std::move(builder).Finish();
  auto analysis = Analyze(*trace, {.whole_trace = true}, ShippedRules());
  EXPECT_TRUE(analysis);
  return *std::move(analysis);
}

TEST(AnalyzeDifference, LeavesOneTokensDecode) {
  const auto rest = AnalyzeDifference(DecodeRun(36), DecodeRun(4), Tokens(32));
  ASSERT_TRUE(rest) << rest.error().Text();
  ASSERT_EQ(rest->rollup.kernels.size(), 2u) << "prefill cancels";
  for (const KernelCost& kernel : rest->rollup.kernels) {
    EXPECT_EQ(kernel.launches, 32);
    EXPECT_EQ(kernel.exclusive,
              Nanos(kernel.short_name.starts_with("rms") ? 32 * 200'000 : 32 * 600'000));
  }
  EXPECT_EQ(rest->rollup.idle, Nanos(32 * 200'000));
  EXPECT_TRUE(rest->proof.complete()) << rest->proof.reason();
  EXPECT_EQ(rest->proof.items[1].sentence, "2 dispatches for each of 32 tokens");
}

TEST(AnalyzeDifference, FailsTheProofWhenWorkIsMissing) {
  const auto rest = AnalyzeDifference(DecodeRun(36, /*lost=*/1), DecodeRun(4), Tokens(32));
  ASSERT_TRUE(rest);
  EXPECT_FALSE(rest->proof.complete());
  EXPECT_EQ(rest->proof.reason(),
            "63 dispatches left over are not the same for each of 32 tokens, mul_mat_vec_q Q4_K "
            "for one");
}

TEST(AnalyzeDifference, RefusesTracesThatAreNoLonger) {
  EXPECT_EQ(AnalyzeDifference(DecodeRun(4), DecodeRun(36), Tokens(32)).error().code,
            base::ErrorCode::kMismatch);
  EXPECT_EQ(AnalyzeDifference(DecodeRun(36), DecodeRun(4), Tokens(0)).error().code,
            base::ErrorCode::kUsage);
}

}  // namespace
}  // namespace culprit::analysis
