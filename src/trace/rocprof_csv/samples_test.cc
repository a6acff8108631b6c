// Real files of several versions, which are not part of the project. The expected values were
// computed with Python's csv module.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <string>

#include "trace/registry.h"

namespace culprit::trace::rocprof_csv {
namespace {

struct Expected {
  const char* file;
  std::size_t dispatches, kernels, lanes;
  const char* first;         // how the name of the kernel that starts first begins
  std::int64_t summed_ns;    // Σ end - start
  std::int64_t missing_ids;  // cut out by whoever published the file
};

void PrintTo(const Expected& expected, std::ostream* out) { *out << expected.file; }

class RocprofCsvSamples : public ::testing::TestWithParam<Expected> {};

std::filesystem::path Samples() {
  const char* folder = std::getenv("CULPRIT_SAMPLES");
  return std::filesystem::path(folder ? folder : CULPRIT_SOURCE_DIR "/../shared/samples") /
         "public";
}

TEST_P(RocprofCsvSamples, IsReadInFull) {
  const auto path = Samples() / GetParam().file;
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no sample file " << path;
  const auto trace = ReadTrace(path.string());
  ASSERT_TRUE(trace.has_value()) << trace.error().Text();
  EXPECT_EQ(trace->size(), GetParam().dispatches);
  EXPECT_EQ(trace->kernels.size(), GetParam().kernels);
  EXPECT_EQ(trace->lanes.size(), GetParam().lanes);
  EXPECT_TRUE(trace->kernel_name(trace->kernel[0]).starts_with(GetParam().first));
  std::int64_t summed = 0;
  for (std::size_t i = 0; i < trace->size(); ++i) {
    summed += (trace->end[i] - trace->start[i]).count();
  }
  EXPECT_EQ(summed, GetParam().summed_ns);
  EXPECT_EQ(trace->diagnostics.count(base::Finding::kMissingDispatchIds), GetParam().missing_ids);
  EXPECT_EQ(trace->diagnostics.count(base::Finding::kMalformedRow), 0);
  EXPECT_EQ(trace->diagnostics.count(base::Finding::kTruncatedNames), 0);
}

INSTANTIATE_TEST_SUITE_P(
    All, RocprofCsvSamples,
    ::testing::Values(
        Expected{"rocprofv3_docs_6.3_kernel_trace.csv", 7, 3, 4,
                 "void addition_kernel<float>(float*, float const*, float const*, int, int)",
                 795'453, 6},
        Expected{"rocprofv3_docs_7.0_kernel_trace.csv", 9, 4, 4,
                 "void addition_kernel<float>(float*, float const*, float const*, int, int)",
                 96'160, 4},
        Expected{"rocprofv3_gfx1151_llamacpp_decode_kernel_trace.csv", 144, 17, 1,
                 "scale_f32(float const*, float*, float, float, long)", 1'857'381, 4'590},
        Expected{"rocprofv3_gfx1151_llamacpp_prefill_kernel_trace.csv", 1'128, 27, 2,
                 "void rms_norm_f32<1024, true, false>(", 66'066'571, 0},
        Expected{"rocprofv1_gfx1201_llamacpp_results.csv", 1'963, 20, 3,
                 "__amd_rocclr_fillBufferAligned", 662'138'329, 0}));

TEST(RocprofCsvSamples, RefusesWhatIsNoKernelTrace) {
  for (const char* file : {"rocprofv3_gfx1151_llamacpp_decode_counter_collection.csv",
                           "rocprofv3_gfx1151_llamacpp_decode_hip_api_trace.csv",
                           "rocpd_docs_7.0_regions_trace.csv"}) {
    const auto path = Samples() / file;
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "no sample file " << path;
    const auto trace = ReadTrace(path.string());
    ASSERT_FALSE(trace.has_value()) << file;
    EXPECT_EQ(trace.error().code, base::ErrorCode::kUnsupportedTrace) << trace.error().Text();
  }
}

}  // namespace
}  // namespace culprit::trace::rocprof_csv
