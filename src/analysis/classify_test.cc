#include "analysis/classify.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <sstream>
#include <string>
#include <string_view>

#include "trace/builder.h"

namespace culprit::analysis {
namespace {

// MakeTrace reads one launch a line: the grid, which may be unknown, then the name of the kernel.
//   768x8 mul_mat_vec_q<(ggml_type)12, 1>
trace::Trace MakeTrace(const std::string& launches) {
  trace::TraceBuilder builder("test", "test");
  std::istringstream in(launches);
  std::int64_t time = 1;
  for (std::string line; std::getline(in, line); ++time) {
    trace::Geometry geometry;
    unsigned x = 0, y = 1;
    int name_at = 0;
    if (std::sscanf(line.c_str(), " %ux%u %n", &x, &y, &name_at) == 2)
      geometry = {{x, y, 1}, {32, 4, 1}};
    const auto kernel = builder.AddKernel(line.substr(static_cast<std::size_t>(name_at)));
    builder.AddDispatch(time, time + 1, kernel, builder.AddGeometry(geometry),
                        builder.AddLane(0, 1, 1));
  }
  return std::move(builder).Finish().value();
}

// CategoriesOf writes category and identity of every launch, one a line.
std::string CategoriesOf(const trace::Trace& trace, const RuleSet& rules = ShippedRules(),
                         std::optional<Passes> passes = std::nullopt,
                         std::optional<std::int64_t> vocabulary = std::nullopt) {
  Window window;
  window.last = trace.size();
  const LaunchGroups groups = GroupLaunches(trace, 0, trace.size());
  const Classification result = Classify(trace, window, groups, passes, vocabulary, rules);
  std::string text;
  for (const ClassId id : result.of) {
    const Class& known = result.classes[id.index()];
    text += known.category + ": " + known.identity + "\n";
  }
  return text;
}

// One layer and the head of a mixture-of-experts model as ggml launches it during decode.
constexpr std::string_view kLayer = R"(1x1 rms_norm_f32<1024, true, false>
8x1 quantize_q8_1
4096x1 mul_mat_vec_q<(ggml_type)12, 1, false>
512x1 mul_mat_vec_q<(ggml_type)14, 1, false>
512x1 mul_mat_vec_q<(ggml_type)12, 1, false>
4x1 rms_norm_mul_rope_f32<256, false, __half>
2x1 k_set_rows<float, long, __half>
264x1 flash_attn_ext_f16<128, 128, 1, 8>
4x1 flash_attn_stream_k_fixup_uniform<128, 1, 8>
2048x1 mul_mat_vec_q<(ggml_type)12, 1, true>
1x1 rms_norm_f32<1024, true, false>
128x1 mul_mat_vec_f<float, float, 1, 256>
1x1 topk_moe_cuda<128, false>
768x8 mul_mat_vec_q<(ggml_type)12, 1, true>
768x8 mul_mat_vec_q<(ggml_type)12, 1, true>
1x8 moe_weighted_reduction_f32
8x1 k_bin_bcast<&(op_add(float, float)), float>
1x1 rms_norm_f32<1024, true, false>
151936x1 mul_mat_vec_q<(ggml_type)14, 1, false>)";

TEST(Classify, FindsRolesByOrderWhereKernelAndGridAreTheSame) {
  EXPECT_EQ(CategoriesOf(MakeTrace(std::string(kLayer))), R"(norm: rms_norm_f32
quantise activations: quantize_q8_1
dense Q4_K: mul_mat_vec_q Q4_K (qkv)
dense Q6_K: mul_mat_vec_q Q6_K (qkv)
dense Q4_K: mul_mat_vec_q Q4_K (qkv)
norm: rms_norm_mul_rope_f32
KV write: k_set_rows
flash attention: flash_attn_ext_f16
flash attention: flash_attn_stream_k_fixup_uniform
dense Q4_K: mul_mat_vec_q Q4_K (attention out)
norm: rms_norm_f32
MoE routing: mul_mat_vec_f (router)
MoE routing: topk_moe_cuda
MoE gate/up: mul_mat_vec_q Q4_K (gate/up)
MoE down: mul_mat_vec_q Q4_K (down)
MoE routing: moe_weighted_reduction_f32 (combine)
elementwise: k_bin_bcast<op_add>
norm: rms_norm_f32
LM head: mul_mat_vec_q Q6_K (head)
)");
}

TEST(Classify, GivesDispatchesThatShareEverythingOneClass) {
  const trace::Trace trace = MakeTrace(std::string(kLayer) + "\n" + std::string(kLayer));
  Window window;
  window.last = trace.size();
  const LaunchGroups groups = GroupLaunches(trace, 0, trace.size());
  const Classification result =
      Classify(trace, window, groups, std::nullopt, std::nullopt, ShippedRules());
  EXPECT_EQ(result.classes.size(), 16u);
  for (std::size_t i = 0; i < 19; ++i) EXPECT_EQ(result.of[i], result.of[i + 19]) << i;
}

TEST(Classify, FollowsPassesInWhatIsADraftHead) {
  const trace::Trace trace = MakeTrace(
      "151936x1 mul_mat_vec_q<(ggml_type)14, 1>\n151936x1 mul_mat_vec_q<(ggml_type)14, 1>");
  const Passes passes{
      {{0, 1, PassKind::kDraft}, {1, 2, PassKind::kTarget}}, 2, PassMethod::kOutputHead, ""};
  EXPECT_EQ(CategoriesOf(trace, ShippedRules(), passes),
            "draft head: mul_mat_vec_q Q6_K (head)\nLM head: mul_mat_vec_q Q6_K (head)\n");
}

TEST(Classify, TakesTheHeadThatEndsAPassWhereNoMarkKnowsIt) {
  const trace::Trace trace =
      MakeTrace("37984x1 Cijk_Alik_Bljk_HHS_BH_MT4x1x64\n8x1 Cijk_Alik_Bljk_HHS_BH_MT4x1x64");
  const Passes passes{{{0, 1, PassKind::kTarget}}, 1, PassMethod::kOutputHead, ""};
  EXPECT_EQ(CategoriesOf(trace, ShippedRules(), passes),
            "LM head: Cijk_Alik_Bljk_HHS_BH (head)\ndense float/GEMM: Cijk_Alik_Bljk_HHS_BH\n");
}

TEST(Classify, GuessesTheDraftHeadWithoutPasses) {
  const trace::Trace trace = MakeTrace(R"(151936x1 mul_mat_vec_q<(ggml_type)14, 1>
151936x1 mul_mat_vec_q<(ggml_type)14, 1>
75968x1 mul_mat_vec_q<(ggml_type)14, 4>)");
  EXPECT_EQ(CategoriesOf(trace), R"(draft head: mul_mat_vec_q Q6_K (head)
draft head: mul_mat_vec_q Q6_K (head)
LM head: mul_mat_vec_q Q6_K (head)
)");
}

TEST(Classify, KnowsASmallHeadByTheVocabulary) {
  const trace::Trace trace = MakeTrace("16000x1 mul_mat_vec_q<(ggml_type)14, 2>");
  EXPECT_EQ(CategoriesOf(trace), "dense Q6_K: mul_mat_vec_q Q6_K\n");
  EXPECT_EQ(CategoriesOf(trace, ShippedRules(), std::nullopt, 32000),
            "LM head: mul_mat_vec_q Q6_K (head)\n");
}

TEST(Classify, TakesNoWideFeedForwardForAHead) {
  std::string launches;
  for (int i = 0; i < 60; ++i) launches += "53248x1 mul_mat_vec_q<(ggml_type)12, 1>\n";
  const trace::Trace trace = MakeTrace(launches);
  const Passes passes{{{0, 60, PassKind::kTarget}}, 60, PassMethod::kPeriod, ""};
  EXPECT_EQ(CategoriesOf(trace, ShippedRules(), passes).find("head"), std::string::npos);
}

TEST(Classify, AsksTheUsersRulesFirst) {
  const auto users =
      ParseRules("mine.toml", "[[rule]]\nname='mul_mat_vec_q'\ncategory='mine {type}'\nwhy='y'\n");
  EXPECT_EQ(CategoriesOf(MakeTrace("1x1 mul_mat_vec_q<(ggml_type)142, 1>"), InFront(users.value())),
            "mine type 142: mul_mat_vec_q type 142\n");
}

TEST(Classify, SaysWhatItDoesNotKnow) {
  EXPECT_EQ(CategoriesOf(MakeTrace("\x1b[31mwhat is this\n\n")),
            "[unclassified]: \x1b[31mwhat is this\n[unclassified]: \n");
}

TEST(Classify, KeepsDevicesApart) {
  trace::TraceBuilder builder("test", "test");
  const auto geometry = builder.AddGeometry({{8, 8, 1}, {32, 1, 1}});
  const auto routing = builder.AddKernel("topk_moe_cuda<128>");
  const auto expert = builder.AddKernel("mul_mat_vec_q_moe<(ggml_type)12, 2>");
  std::int64_t time = 1;
  for (const auto& [device, kernel] :
       {std::pair{0, routing}, {1, routing}, {0, expert}, {1, expert}, {1, expert}, {0, expert}}) {
    builder.AddDispatch(time, time + 1, kernel, geometry, builder.AddLane(device, 1, 1));
    ++time;
  }
  EXPECT_EQ(CategoriesOf(std::move(builder).Finish().value()), R"(MoE routing: topk_moe_cuda
MoE routing: topk_moe_cuda
MoE gate/up: mul_mat_vec_q_moe Q4_K (gate/up)
MoE gate/up: mul_mat_vec_q_moe Q4_K (gate/up)
MoE down: mul_mat_vec_q_moe Q4_K (down)
MoE down: mul_mat_vec_q_moe Q4_K (down)
)");
}

TEST(Explain, ListsWhatOrderWouldDecide) {
  const Explanation explained = Explain("mul_mat_vec_q<(ggml_type)12, 1>", trace::WorkKind::kKernel,
                                        {.geometry = {{768, 8, 1}, {32, 4, 1}}}, ShippedRules());
  EXPECT_EQ(explained.name.base, "mul_mat_vec_q");
  EXPECT_EQ(explained.sign, Sign::kBatchedMul);
  std::string text;
  for (const Outcome& outcome : explained.outcomes) {
    text += std::string(Name(outcome.place)) + ": " + outcome.category + "\n";
    ASSERT_TRUE(outcome.rule.has_value());
    EXPECT_FALSE(ShippedRules().rules[*outcome.rule].why.empty());
  }
  EXPECT_EQ(text,
            "gate/up: MoE gate/up\ndown: MoE down\nrouter: MoE routing\n"
            "attention: attention without FA\n: dense Q4_K\n");
}

TEST(Explain, SaysThatNoRuleMatched) {
  const Explanation explained = Explain("zzz", trace::WorkKind::kKernel, {}, ShippedRules());
  ASSERT_EQ(explained.outcomes.size(), 1u);
  EXPECT_EQ(explained.outcomes[0].category, kUnclassified);
  EXPECT_FALSE(explained.outcomes[0].rule.has_value());
}

TEST(Explain, NamesRecordsOfCopyEnginesAndGraphs) {
  const auto category = [](std::string_view name, trace::WorkKind kind) {
    return Explain(name, kind, {}, ShippedRules()).outcomes.back().category;
  };
  EXPECT_EQ(category("Memcpy DtoH (Device -> Pinned)", trace::WorkKind::kCopy), "[copy]");
  EXPECT_EQ(category("Memset (Device)", trace::WorkKind::kFill), "[copy]");
  EXPECT_EQ(category("graph 3", trace::WorkKind::kGraph), "[graph]");
}

}  // namespace
}  // namespace culprit::analysis
