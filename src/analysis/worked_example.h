// worked_example: the change from a KV cache in F16 to one in Q4_0 with tiled attention, as its
// first user attributed it by hand, as a pair of synthetic traces. For tests.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "analysis/attribute.h"
#include "analysis/synthetic_trace.h"

namespace culprit::analysis::synthetic {

// ExampleCosts is ms per token by category; a digit more than was printed by hand, so that shares
// come out as printed too.
struct ExampleCosts {
  std::map<std::string, double> kernels;
  double idle;
};
inline ExampleCosts CostsOfF16() {
  return {{{"dense float/GEMM", 0.4673},
           {"MoE gate/up", 1.7520},
           {"MoE down", 1.00855},
           {"dense Q4_0", 1.3470},
           {"flash attention", 1.4000},
           {"LM head", 1.2000},
           {"MoE routing", 0.5000},
           {"KV write", 0.2000},
           {"quantise activations", 0.4},
           {"norm", 0.6000},
           {"rope", 0.1500},
           {"SSM/linear attention", 1.3000},
           {"elementwise", 0.4000},
           {"get/set rows", 0.0200},
           {"copies and conversion", 0.3},
           {"sampling on GPU", 0.0300},
           {"dense Q8_0", 0.5000}},
          1.17805};
}
inline ExampleCosts CostsOfQ4() {
  ExampleCosts costs = CostsOfF16();
  const std::map<std::string, double> more = {
      {"KV dequantise", 0.33923}, {"dense float/GEMM", 0.1628}, {"MoE gate/up", 0.1400},
      {"MoE down", 0.0679},       {"dense Q4_0", 0.0620},       {"flash attention", -0.0170},
      {"LM head", 0.0050},        {"KV write", 0.0500},         {"norm", 0.0300},
      {"elementwise", 0.0235},    {"dense Q8_0", 0.0100}};
  for (const auto& [category, change] : more) costs.kernels[category] += change;
  costs.idle += 0.05002;
  return costs;
}

// ExampleLayer has attention, linear attention and experts, in the order of a forward pass. Times
// are set later; the order, not the names, makes a multiplication gate/up, down or dense.
inline std::vector<std::pair<std::string, Work>> ExampleLayer(bool quantised_cache) {
  const char* const experts = "void mul_mat_vec_q<(ggml_type)2, 1, true, false>(void const*)";
  const char* const q8 = "void mul_mat_vec_q<(ggml_type)8, 1, false, false>(void const*)";
  const char* const float_mul = "void mul_mat_vec_f<__half, float, 1, 128>(__half const*)";
  std::vector<std::pair<std::string, Work>> layer = {
      {"norm", {kNorm, {}, {1, 1, 1}}},
      {"quantise activations", {kQuantize, {}, {16, 1, 1}}},
      {"dense Q4_0", {kMul, {}, {6144, 1, 1}}},
      {"dense Q8_0", {q8, {}, {512, 1, 1}}},
      {"rope", {kRope, {}, {32, 1, 1}}},
      {"KV write", {kKvWrite, {}, {4, 1, 1}}}};
  if (quantised_cache) {
    layer.push_back({"KV dequantise",
                     {"void dequantize_block_q4_0<__half>(void const*, __half*)", {}, {64, 1, 1}}});
  }
  const std::vector<std::pair<std::string, Work>> rest = {
      {"flash attention",
       {"void flash_attn_tile<128, 128, 4, 1, false>(char const*)", {}, {1, 8, 4}}},
      {"dense Q4_0", {kMul, {}, {2048, 1, 1}}},
      {"norm", {kNorm, {}, {1, 1, 1}}},
      {"SSM/linear attention",
       {"void gated_delta_net_cuda<128, false>(float const*)", {}, {32, 1, 1}}},
      {"dense float/GEMM", {float_mul, {}, {2048, 1, 1}}},
      {"copies and conversion", {"void cpy_scalar<&cpy_1_scalar>(char const*)", {}, {8, 1, 1}}},
      {"norm", {kNorm, {}, {1, 1, 1}}},
      {"MoE routing", {float_mul, {}, {128, 1, 1}}},
      {"MoE routing", {"void topk_moe_cuda<128, true>(float const*)", {}, {1, 1, 1}}},
      {"MoE gate/up", {experts, {}, {768, 8, 1}}},
      {"elementwise", {"void unary_gated_op_kernel<op_silu>(char const*)", {}, {24, 1, 1}}},
      {"MoE down", {experts, {}, {2048, 8, 1}}},
  };
  layer.insert(layer.end(), rest.begin(), rest.end());
  return layer;
}

// ExampleStep gives each category its time, evenly over its launches; what does not divide goes to
// the first.
inline Works ExampleStep(const ExampleCosts& costs, bool quantised_cache) {
  std::vector<std::pair<std::string, Work>> pass = {
      {"get/set rows", {"void k_get_rows<(ggml_type)0>(void const*)", {}, {8, 1, 1}}}};
  for (int i = 0; i < 4; ++i) {
    const auto layer = ExampleLayer(quantised_cache);
    pass.insert(pass.end(), layer.begin(), layer.end());
  }
  pass.push_back({"norm", {kNorm, {}, {1, 1, 1}}});
  pass.push_back({"LM head", {kHead, {}, {kVocabulary, 1, 1}}});
  pass.push_back({"sampling on GPU", {"argmax_f32(float const*, int*, long)", {}, {1, 1, 1}}});

  const auto nanos = [](double ms) { return Nanos(std::llround(ms * 1e6)); };
  std::map<std::string, Nanos::rep> launches;
  for (const auto& [category, work] : pass) ++launches[category];
  std::map<std::string, Nanos> rest;
  for (const auto& [category, count] : launches) {
    rest[category] = nanos(costs.kernels.at(category)) % count;
  }
  Works step;
  for (auto& [category, work] : pass) {
    work.time = nanos(costs.kernels.at(category)) / launches[category] +
                std::exchange(rest[category], Nanos(0));
    step.push_back(std::move(work));
  }
  step.front().gap = nanos(costs.idle);
  return step;
}

// WorkedExample is the pair: 96 tokens after the first, noise of 1 %, untraced times as measured.
inline std::pair<Variant, Variant> WorkedExample() {
  const auto make = [](const char* label, const Works& step, double untraced_ms,
                       std::uint32_t seed) {
    Recording recording(0.01, seed);
    const Completion request = recording.Serve(Prefill(), step, 96);
    auto analysis = Analyze(recording.Finish(), {.completion = request}, ShippedRules());
    EXPECT_TRUE(analysis) << analysis.error().Text();
    return Variant{
        label, *std::move(analysis), {base::PerToken(base::NanosF(untraced_ms * 1e6))}, {}};
  };
  return {make("f16", ExampleStep(CostsOfF16(), false), 15.444, 1),
          make("q4", ExampleStep(CostsOfQ4(), true), 16.945, 2)};
}

}  // namespace culprit::analysis::synthetic
