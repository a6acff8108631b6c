// The figures of the real recordings, from the files as a user has them to the numbers of a report.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "analysis/attribute.h"
#include "cli/load_variant.h"
#include "experiment/evaluation.h"
#include "store/recorded_runs.h"

namespace culprit {
namespace {

using analysis::Analysis;
using analysis::KernelCost;
using analysis::Variant;
using base::Nanos;

// kRounded is half a unit of the fourth decimal, the precision in which the figures are stated.
constexpr double kRounded = 5.001e-5;

std::string Samples() {
  const char* given = std::getenv("CULPRIT_SAMPLES");
  return given != nullptr ? given : CULPRIT_SOURCE_DIR "/../shared/samples";
}

double Millis(const Analysis& analysis, Nanos time) { return analysis.per_token(time).millis(); }

class RealRecordings : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(Samples() + "/h200-20k")) {
      GTEST_SKIP() << "the recordings are not at " << Samples() << "; CULPRIT_SAMPLES names them";
    }
  }
  static Variant Load(const std::string& name) {
    auto variant = cli::LoadVariant({.label = name, .path = Samples() + "/" + name}, {},
                                    analysis::ShippedRules());
    EXPECT_TRUE(variant) << variant.error().Text();
    return *std::move(variant);
  }
  // All kernels whose base name starts so, added up.
  static KernelCost Sum(const Variant& variant, std::string_view base_name) {
    KernelCost sum;
    for (const KernelCost& kernel : variant.analysis.rollup.kernels) {
      if (!kernel.short_name.starts_with(base_name)) continue;
      sum.exclusive += kernel.exclusive;
      sum.summed += kernel.summed;
      sum.launches += kernel.launches;
    }
    return sum;
  }
};

struct Figures {
  std::string name;
  double wall, idle, exclusive, summed;
  std::int64_t steps;
  std::vector<double> untraced;
};

TEST_F(RealRecordings, GiveTheStatedFigures) {
  const std::vector<Figures> all = {
      {"h200-20k/f16", 3.6617, 1.2727, 2.3890, 3.0476, 511, {3.297, 3.213, 3.674}},
      {"h200-20k/q4", 6.3126, 2.3707, 3.9419, 7.8558, 511, {4.816, 5.124, 5.068}},
      {"h200-20k/nofa", 5.3820, 1.8022, 3.5799, 3.9951, 511, {4.420, 4.403, 4.540}},
      {"h200-20k/spec", 4.0104, 2.0918, 1.9186, 2.2956, 189, {3.859, 3.924, 3.749}},
      {"h200-30k/f16", 3.6881, 1.2033, 2.4847, 3.1769, 511, {}},
      {"h200-30k/q4", 6.1335, 1.2179, 4.9156, 11.1986, 511, {}},
  };
  for (const Figures& figures : all) {
    SCOPED_TRACE(figures.name);
    const Variant variant = Load(figures.name);
    const Analysis& analysis = variant.analysis;
    EXPECT_NEAR(Millis(analysis, analysis.rollup.wall), figures.wall, kRounded);
    EXPECT_NEAR(Millis(analysis, analysis.rollup.idle), figures.idle, kRounded);
    EXPECT_NEAR(Millis(analysis, analysis.rollup.exclusive()), figures.exclusive, kRounded);
    EXPECT_NEAR(Millis(analysis, analysis.rollup.total().summed), figures.summed, kRounded);
    EXPECT_EQ(analysis.tokens, base::Tokens(511));
    EXPECT_EQ(analysis.rollup.steps, figures.steps);
    EXPECT_TRUE(analysis.proof.complete()) << analysis.proof.reason();
    EXPECT_EQ(analysis.found.window.method, analysis::WindowMethod::kClientTimes);
    EXPECT_EQ(analysis.found.confidence, analysis::Confidence::kConfirmed);
    for (std::size_t i = 0; i < figures.untraced.size(); ++i) {
      ASSERT_LT(i, variant.untraced.size());
      // Stated with three decimals, some by the server's clock and one by the client's.
      EXPECT_NEAR(variant.untraced[i].millis(), figures.untraced[i], 6e-4);
    }
  }
}

TEST_F(RealRecordings, GiveTheStatedKernels) {
  struct Kernel {
    std::string base_name;
    double f16, q4, q4_summed;
  };
  const std::vector<Kernel> kernels = {
      {"flash_attn_ext_vec", 0, 1.9548, 1.9548},
      {"flash_attn_ext_f16", 0.4198, 0, 0},
      {"flash_attn_stream_k_fixup_uniform", 0.1498, 0, 0},
      {"k_set_rows_quant", 0, 0.0863, 0.0863},
      {"flash_attn_combine_results", 0, 0.0446, 1.8524},
      {"quantize_q8_1", 0.1645, 0.1708, 0.2977},
  };
  const Variant f16 = Load("h200-20k/f16");
  const Variant q4 = Load("h200-20k/q4");
  for (const Kernel& kernel : kernels) {
    SCOPED_TRACE(kernel.base_name);
    EXPECT_NEAR(Millis(f16.analysis, Sum(f16, kernel.base_name).exclusive), kernel.f16, kRounded);
    EXPECT_NEAR(Millis(q4.analysis, Sum(q4, kernel.base_name).exclusive), kernel.q4, kRounded);
    EXPECT_NEAR(Millis(q4.analysis, Sum(q4, kernel.base_name).summed), kernel.q4_summed, kRounded);
  }
  EXPECT_EQ(Sum(f16, "quantize_q8_1").launches, 145 * 511);
  EXPECT_EQ(Sum(q4, "quantize_q8_1").launches, 145 * 511);
  EXPECT_NEAR(Millis(q4.analysis, Sum(q4, "fwht_cuda<64").summed), 1.7160, kRounded);
}

TEST_F(RealRecordings, NameTheCulprit) {
  const auto attribution = analysis::Attribute(Load("h200-20k/f16"), Load("h200-20k/q4"));
  ASSERT_NE(attribution.culprit(), nullptr);
  EXPECT_EQ(attribution.culprit()->name, "flash attention");
  EXPECT_NEAR(attribution.culprit()->delta().millis(), 1.4298, kRounded);
  EXPECT_NEAR(attribution.traced_delta().millis(), 2.6509, kRounded);
  EXPECT_TRUE(attribution.untraced->traced_change_differs) << "the host was busier while tracing";
}

TEST_F(RealRecordings, SpeculationTakesFewerSteps) {
  const Variant spec = Load("h200-20k/spec");
  EXPECT_EQ(spec.analysis.steps->draft_passes, 755);
  const auto attribution = analysis::Attribute(Load("h200-20k/f16"), spec);
  ASSERT_TRUE(attribution.speculation);
  const auto& split = *attribution.speculation;
  EXPECT_NEAR((split.more_steps + split.slower_steps).millis(), attribution.traced_delta().millis(),
              1e-9);
  EXPECT_LT(split.more_steps.millis(), 0);
  EXPECT_GT(split.slower_steps.millis(), 0);
}

// Median decode costs by `culprit summarize`, baseline first, and what the pairs say about them.
struct Summarized {
  std::string name;
  double median;
  stats::Verdict verdict;  // of decode; meaningless for the baseline
};

void ExpectSummary(const std::string& folder, const std::vector<Summarized>& all) {
  std::vector<store::VariantFolder> folders;
  folders.reserve(all.size());
  for (const Summarized& one : all) folders.push_back({one.name, folder + "/" + one.name});
  const auto runs = store::ReadVariantFolders(folders);
  ASSERT_TRUE(runs) << runs.error().Text();
  const auto evaluation = experiment::Evaluate(runs->spec, runs->trials);
  ASSERT_EQ(evaluation.candidates.size() + 1, all.size());
  EXPECT_NEAR(evaluation.baseline.decode->millis(), all[0].median, 6e-4);
  for (std::size_t i = 1; i < all.size(); ++i) {
    SCOPED_TRACE(all[i].name);
    const auto& candidate = evaluation.candidates[i - 1];
    EXPECT_NEAR(candidate.summary.decode->millis(), all[i].median, 6e-4);
    EXPECT_EQ(candidate.decode.verdict, all[i].verdict);
  }
}

// Three pairs prove no difference, as long as nobody knows this machine's noise.
TEST_F(RealRecordings, SummarizeToTheStatedMedians) {
  using enum stats::Verdict;
  ExpectSummary(Samples() + "/h200-20k", {{"f16", 3.297, kInconclusive},
                                          {"q4", 5.068, kInconclusive},
                                          {"nofa", 4.420, kInconclusive},
                                          {"spec", 3.859, kInconclusive}});
}

// Four pairs do. Each folder also has a run of 1,024 tokens, which is void beside those of 512.
TEST_F(RealRecordings, OfFourPairsMakeARegression) {
  using enum stats::Verdict;
  ExpectSummary(Samples() + "/h200-30k",
                {{"f16", 3.824, kInconclusive}, {"q4", 6.013, kRegression}});
}

TEST_F(RealRecordings, ClassifyNearlyAllOfTheirTime) {
  for (const char* name : {"h200-20k/f16", "h200-20k/q4", "h200-20k/nofa", "h200-20k/spec"}) {
    const Variant variant = Load(name);
    Nanos unclassified{};
    for (const KernelCost& kernel : variant.analysis.rollup.kernels) {
      if (kernel.category == analysis::kUnclassified) unclassified += kernel.exclusive;
    }
    EXPECT_LE(unclassified.count() * 100, variant.analysis.rollup.exclusive().count()) << name;
  }
}

}  // namespace
}  // namespace culprit
