// What the shipped rules make of real names, each standing alone: without neighbours, grid or
// vocabulary. Sources: profiles of llama.cpp (rocprofv3, rocprof v1, nsys), vLLM, SGLang and
// PyTorch, symbols of ggml's CUDA backend.
#include <gtest/gtest.h>

#include <map>
#include <string_view>
#include <vector>

#include "analysis/classify.h"

namespace culprit::analysis {
namespace {

using Names = std::vector<std::string_view>;

void ExpectAll(std::string_view category, const Names& names) {
  for (const std::string_view name : names) {
    const Explanation explained = Explain(name, trace::WorkKind::kKernel, {}, ShippedRules());
    EXPECT_EQ(explained.outcomes.back().category, category) << name;
  }
}

TEST(ShippedRules, KnowDenseMultiplicationsByType) {
  ExpectAll("dense Q4_0",
            {"void mul_mat_q<(ggml_type)2, 128, false>(char const*, int const*)",
             "void mul_mat_vec_q<(ggml_type)2, 1, true, false>(void const*, void const*)"});
  ExpectAll("dense Q4_K",
            {"mul_mat_vec_q<(ggml_type)12, (int)1, (bool)1, (bool)0>",
             "_Z13mul_mat_vec_qIL9ggml_type12ELi1ELb0ELb0ELb0EEvPKvS2_PKi",
             "void mul_mat_q<(ggml_type)12, 128, false, (ggml_prec)30>(char const*)"});
  ExpectAll("dense Q5_K",
            {"void mul_mat_vec_q<(ggml_type)13, 1, false, false>(void const*) [clone .kd]"});
  ExpectAll("dense Q6_K", {"mul_mat_vec_q<(ggml_type)14, (int)1, (bool)0, (bool)0, (bool)1>"});
  ExpectAll("dense Q8_0", {"void mul_mat_q_stream_k_fixup<(ggml_type)8, (int)16, (bool)0>(...)",
                           "void mul_mat_q<(ggml_type)8, 128, false>(char const*, int const*"});
  ExpectAll("dense MXFP4", {"_Z9mul_mat_qIL9ggml_type39ELi96ELb0E"});
  ExpectAll("dense type 142", {"mul_mat_q<(ggml_type)142,(int)128>"});
  ExpectAll("dense quantised",
            {"flambeau_mmq_q4_1_4warp_lds_q8_1", "void mul_mat_vec_dq_q6_K<32, 1>(void const*)",
             "gemm_mq4g256v2_residual_mmq_iu4_full_set_symfold"});
}

TEST(ShippedRules, KnowGemmLibraries) {
  ExpectAll(
      "dense float/GEMM",
      {"Cijk_Alik_Bljk_HHS_BH_Bias_HA_S_SAV_UserArgs_MT64x64x32_MI16x16x1_SN_LDSB0_ISA1201_WG32_4_"
       "1.kd",
       "Cijk_Ailk_Bljk_HSS_BH_MT64x32x8_SE_1LDSB0_AMAS2_ISA000_IU1_K1",
       "Custom_Cijk_Ailk_Bljk_HHS_BH_MT16x16x256_MI16x16x1_7_Equality_gfx942",
       "ampere_h16816gemm_64x64_ldg8_stages_64x5_tn", "turing_h1688gemm_256x64_sliced1x2_ldg8_tn",
       "sm90_xmma_gemm_f16f16_f16f16_f16_tn_n_tilesize64x128x64_warpgroupsize1x1x1_execute_segment",
       "nvjet_tst_64x16_64x16_2x4_2cta_h_bz_bias_TNT",
       "void "
       "cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x64_32x6_tn_align4>(cutlass_80_x::"
       "Params)",
       "void cublasLt::splitKreduce_kernel<32, 16, int, float, float, float, float>(float const*)",
       "void gemv2T_kernel_val<int, int, __half, __half, __half, float, 128, 16, 4, 4, "
       "false>(float)",
       "void wvSpltK_hf_sml_<64, 2, 16, 8, 2, 2>(int, int, __half const*)",
       "void ck_tile::kentry<1, "
       "ck_tile::BatchedGemmKernel<ck_tile::GemmSpatiallyLocalTilePartitioner<int>>>(int)",
       "void mul_mat_f<__nv_bfloat162, (int)32, (int)15, (int)7, (bool)0>(const T1 *, const float "
       "*, const …",
       "void mul_mat_vec_f<__half, float, (int)1, (int)256, (bool)1, (bool)0>(…)"});
}

TEST(ShippedRules, KnowExpertsAndRouting) {
  ExpectAll(
      "MoE gate/up",
      {"void mul_mat_vec_q_moe<(ggml_type)12, 2, true>(void const*)", "mul_mat_vec_q_grouped",
       "void mul_mat_f_ids<__half2, 32, 8, 4>(__half2 const*)",
       "_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu", "fused_moe_kernel",
       "bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x16x256u2_s3_et128x16_m128x16x32_swiGlu_dynBatch_sm100f"});
  ExpectAll(
      "MoE routing",
      {"topk_moe_cuda<256>", "mm_ids_helper<8>(int const*, int*)",
       "k_argsort_f32_i32<(ggml_sort_order)1>", "moe_weighted_reduction_f32(float const*)",
       "_topk_forward", "_combined_routing_memset", "_sum_bitmatrix_rows",
       "_finalize_matmul_scatter_bf16",
       "void vllm::moe::topkGatingSoftmax<4, 128, 4, 16>(float const*)",
       "void vllm::moe::moe_align_block_size_kernel<int>(int*)",
       "void moe::dev::routing::routingIndicesHistogramKernel<moe::dev::routing::K<float>>(int)",
       "void "
       "moe::dev::finalize::finalizeKernelVecLoad<moe::dev::finalize::KernelParams<float>>(int)"});
}

TEST(ShippedRules, KnowAttention) {
  ExpectAll(
      "flash attention",
      {"flash_attn_tile<256,256,4,8,false>",
       "flash_attn_ext_vec<(int)128,(int)1,(ggml_type)43,(ggml_type)8,(bool)0>",
       "void flash_attn_ext_f16<(int)256, (int)256, (int)2, (int)4, (bool)0, (bool)0>(const char "
       "*, const c…",
       "flash_attn_combine_results<128>",
       "void flash_attn_stream_k_fixup<(int)256, (int)4, (int)2>(float *)",
       "flash_attn_mask_to_KV_max<8>", "flash_attn_decode_rdna3", "kernel_unified_attention_3d",
       "reduce_segments", "attn_fwd.kd",
       "_Z35paged_attention_ll4mi_reduce_kernelIDF16_Li128ELi128ELi512EEvPT_PKfS3_PKS0_PKii",
       "_ZN7ck_tile6kentryILi256ELi2ENS_13FmhaFwdKernelINS_26FmhaFwdTilePartitioner_HBSINS_"
       "13TileFmhaShapeI",
       "fmhaSm100aKernel_QkvE4m3OBfloat16H64PagedKvCausalP16VarSeqQ128Kv128PersistentContext",
       "create_flashinfer_kv_indices_triton", "flambeau_attention_decode_f16_splitk_chunk",
       "(anonymous namespace)::qwen35_paged_full_attn_decode_context_tensor_batch_kernel(float "
       "const*)"});
  ExpectAll("attention without FA",
            {"void soft_max_f32<true, 512, 512, float>(float const*) [clone .kd]",
             "k_compute_batched_ptrs(void const*, void const*)"});
  ExpectAll(
      "KV write",
      {"void (anonymous namespace)::store_kvcache<2048l, 4, false, long>((anonymous namespace)::P)",
       "void vllm::reshape_and_cache_flash_kernel<__hip_bfloat16, __hip_bfloat16>(int)",
       "cpy_f32_q<&(cpy_blck_f32_q4_0(char const*, char*)), 32>"});
  ExpectAll("KV dequantise", {"void dequantize_block_q4_0<__half>(void const*, __half*, int)",
                              "dequantize_block_q8_0_f16<false>"});
  ExpectAll("KV rotation",
            {"void fwht_cuda<64, float>(float const*)", "fwht_cuda_block<1024, 256, float>"});
  ExpectAll("rope", {"void rope_norm<true, false, float, __half>(float const*)",
                     "rope_multi<true, false, float>",
                     "void vllm::rotary_embedding_kernel<c10::Half, true>(long const*)",
                     "flambeau_rope_neox_partial_f16"});
}

TEST(ShippedRules, KnowNormsAndActivations) {
  ExpectAll(
      "norm",
      {"void rms_norm_f32<(int)1024, (bool)1, (bool)0>(const float *, float *, int, long, float…",
       "_Z12rms_norm_f32ILi1024ELb1ELb0ELb0EEvPKfPfiiilllfS1_lll5uint3",
       "rms_norm_mul_rope_f32<(int)256,…>", "rms_norm_pre_add_f32<1024,{1,2,3}>",
       "void l2_norm_f32<32>(float const*)",
       "void vllm::scaled_rms_norm_kernel<c10::Half>(c10::Float8_e4m3fnuz*)",
       "_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16ELb0ELb0ELb1ELi1EEEvPT0_PT_",
       "_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdINS_27Rmsnorm2dFwdPipelineOnePassINS_"
       "27RmsnormProblemI",
       "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float, "
       "false>(int)",
       "norm_gated_silu.kd", "rms_finish.kd",
       "triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_0"});
  ExpectAll("quantise activations",
            {"quantize_q8_1(float const*, void*, long) [clone .kd]",
             "void quantize_mmq_q8_1<(mmq_q8_1_ds_layout)0, false>(float const", "quant_q8.kd",
             "k_mul_bcast0_quant", "flambeau_quantize_row_f16_q8_1",
             "void vllm::scaled_fp8_quant_kernel<c10::Half>(c10::Float8_e4m3fnuz*)"});
  ExpectAll(
      "elementwise",
      {"void k_bin_bcast<&(op_add(float, float)), float, float, float, float const*>(float const*)",
       "void unary_gated_op_kernel<&op_silu, float>(const T2 *, const T2 *, T2 *, long, long)",
       "scale_f32(const float *, float *, float, float, long)", "reduce_rows_f32<true>",
       "op_clamp_kernel<float>", "silu_mul.kd", "triton_poi_fused_constant_pad_nd_moe_forward_0",
       "_ZN4vllm25scaled_act_and_mul_kernelIN3c104HalfETnPFT_RKS3_EXadL_ZNS_11silu_kernelIS2_EES3_"
       "S5_EEEEvP",
       "void at::native::reduce_kernel<128, 4, at::native::ReduceOp<float, "
       "at::native::MeanOps<float>>>(int)"});
  ExpectAll("SSM/linear attention",
            {"void gated_delta_net_cuda<128, false, false>(float const*)",
             "ssm_conv_f32<true, true, 128ul, 4ul>", "void ssm_scan_f32<128, 16>(float const*)",
             "rwkv_wkv7_f32<64>", "gdn_ar_w.kd", "chunk_gated_delta_rule_fwd_kernel_h_blockdim64",
             "solve_tri_f32_fast<64, 64>"});
}

TEST(ShippedRules, KnowWhatMovesData) {
  ExpectAll(
      "get/set rows",
      {"void k_get_rows_float<float, float>(float const*, int const*)",
       "void k_set_rows<float, long, __half>(float const*, long const*)",
       "void at::native::vectorized_gather_kernel<16, long>(char*, char*, long*)",
       "void at::native::(anonymous namespace)::indexSelectSmallIndex<c10::Half, long>(int)"});
  ExpectAll(
      "copies and conversion",
      {"__amd_rocclr_copyBuffer.kd", "__amd_rocclr_fillBufferAligned", "__amd_rocclr_streamOpsWait",
       "void cpy_scalar<&(void cpy_1_scalar<float, float>(char const*, char*))>(char const*)",
       "void concat_non_cont<unsigned int, 0>(char const*, char const*,",
       "concat_cont<unsigned int, 1>(int)",
       "void convert_unary<float, __half>(void const*, __half*)",
       "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<int>, "
       "std::array<char*, 1ul> >(int)",
       "void at::native::vectorized_elementwise_kernel<4, "
       "at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)"
       "::{lambda(float)#1}, std::array<char*, 2ul> >(int)",
       "triton_poi_fused__to_copy_1", "batched_transpose_16x64_pack_1x4_ediv_1x2_half"});
  ExpectAll("collectives",
            {"ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>) [clone .kd]",
             "void vllm::cross_device_reduce_1stage<__half, 2>(int)",
             "flambeau_p2p_allreduce_residual_tp2", "void ggml_cuda_ar_kernel<float, 2>(int)",
             "void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>(int)"});
  ExpectAll(
      "sampling on GPU",
      {"argmax_f32(float const*, int*, long)", "top_k_radix_histogram(float const*)",
       "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
       "at::native::ArgMaxOps<float>, long> >(int)",
       "void rocprim::ROCPRIM_400001_NS::detail::radix_sort_block_sort_kernel<int>(long const*)",
       "void cub::CUB_200500_500_NS::DeviceSegmentedRadixSortKernel<int>(int)",
       "(anonymous namespace)::batch_argmax_stage1_kernel(float const*, float*, long*, long, "
       "long)"});
  ExpectAll("convolution",
            {"im2col_kernel<__half>", "conv2d_dw_kernel<float>",
             "igemm_fwd_gtcx2_nhwc_bf16_bx0_ex1_bt32x256x32_wt16x64x4_ws1x1",
             "sm80_xmma_fprop_implicit_gemm_f16f16_f16f16_f16_nhwckrsc_nhwc_tilesize256x64x32"});
}

// The distinctions of the practice this program grew from, by the names its author lists.
TEST(ShippedRules, DistinguishWhatTheFirstUserDistinguishes) {
  const auto in = [](std::string_view name, Launch launch, Place place) {
    const Explanation explained = Explain(name, trace::WorkKind::kKernel, launch, ShippedRules());
    for (const Outcome& outcome : explained.outcomes) {
      if (outcome.place == place && !outcome.pass) return outcome.category;
    }
    return explained.outcomes.back().category;
  };
  const Launch rows{.geometry = {{248320, 1, 1}, {32, 1, 1}}};
  const Launch few{.geometry = {{4096, 1, 1}, {32, 1, 1}}};
  for (const std::string_view any_type :
       {"mul_mat_vec_q<(ggml_type)14, 1>", "mul_mat_vec_q<(ggml_type)12, 1>"}) {
    EXPECT_EQ(in(any_type, rows, Place::kHead), "LM head");
    EXPECT_EQ(Explain(any_type, trace::WorkKind::kKernel, rows, ShippedRules()).sign, Sign::kHead);
    EXPECT_EQ(Explain(any_type, trace::WorkKind::kKernel, few, ShippedRules()).sign, Sign::kMul);
  }
  EXPECT_EQ(in("flashhead_shortlist_logits", few, Place::kHead), "LM head");
  EXPECT_EQ(in("mul_mat_vec_q_moe<(ggml_type)12, 2>", few, Place::kExpertsIn), "MoE gate/up");
  EXPECT_EQ(in("mul_mat_vec_q_moe<(ggml_type)13, 2>", few, Place::kExpertsOut), "MoE down");
  EXPECT_EQ(in("mul_mat_vec_f<float, float, 1, 256>", few, Place::kUnknown), "dense float/GEMM");
  EXPECT_EQ(in("soft_max_f32<true, 0, 0, float>", few, Place::kRouter), "MoE routing");
  EXPECT_EQ(in("k_argsort_f32_i32<1>", few, Place::kUnknown), "MoE routing");
  EXPECT_EQ(in("dequantize_block_q4_0<__half>", few, Place::kBeforeAttention), "KV dequantise");
}

TEST(ShippedRules, KnowOpsOfGgml) {
  ExpectAll("LM head", {"MUL_MAT<result_output, Q6_K>", "MUL_MAT<output, Q8_0>"});
  ExpectAll("dense Q4_K", {"MUL_MAT<attn_q, Q4_K>", "MUL_MAT<ffn_up_shexp, Q4_K>"});
  ExpectAll("dense float/GEMM", {"MUL_MAT<attn_output, BF16>", "MUL_MAT<ssm_alpha, F32>"});
  ExpectAll("MoE gate/up",
            {"MUL_MAT_ID<ffn_gate_exps, Q4_K>", "MUL_MAT_ID<ffn_gate_up_exps, Q4_K>"});
  ExpectAll("MoE down", {"MUL_MAT_ID<ffn_down_exps, Q5_K>"});
  ExpectAll("MoE routing", {"MUL_MAT<ffn_gate_inp, F32>", "SOFT_MAX<ffn_moe_probs, F32>",
                            "ARGSORT<ffn_moe_argsort, I32>", "GET_ROWS<ffn_moe_weights, F32>",
                            "MUL<ffn_moe_weighted, F32>", "ADD<ffn_moe_out, F32>",
                            "DIV<ffn_moe_weights_norm, F32>"});
  ExpectAll("flash attention", {"FLASH_ATTN_EXT<cache_k, Q4_0>"});
  ExpectAll("attention without FA", {"MUL_MAT<cache_k, F16>", "SOFT_MAX<kq_soft_max, F32>",
                                     "MUL_MAT<cache_v, Q8_0>", "CONT<kqv_out, F32>"});
  ExpectAll("KV write", {"SET_ROWS<cache_k, Q4_0>", "CPY<cache_v, F16>"});
  ExpectAll("KV rotation", {"MUL_MAT<attn_inp_k_rot, F32>"});
  ExpectAll("norm", {"RMS_NORM<norm, F32>", "MUL<attn_norm, F32>", "RMS_NORM+MUL<ffn_norm, F32>",
                     "L2_NORM<q_conv, F32>"});
  ExpectAll("rope", {"ROPE<Qcur, F32>"});
  ExpectAll("SSM/linear attention", {"GATED_DELTA_NET<attn_output, F32>",
                                     "SSM_CONV<ssm_conv1d, F32>", "GET_ROWS<cache_s, F32>"});
  ExpectAll("get/set rows", {"GET_ROWS<token_embd, Q8_0>"});
  ExpectAll("copies and conversion", {"CONT<Qcur, F32>", "CONCAT<conv_input, F32>"});
  ExpectAll("elementwise", {"ADD<ffn_inp, F32>", "SWIGLU<ffn_swiglu, F32>", "SILU<z, F32>",
                            "ADD<unnamed, F32>", "SWIGLU<ffn_moe_swiglu, F32>"});
}

TEST(ShippedRules, GiveAReasonEach) {
  EXPECT_GT(ShippedRules().rules.size(), 60u);
  for (const Rule& rule : ShippedRules().rules) {
    EXPECT_GE(rule.why.size(), 8u) << rule.source;
    EXPECT_EQ(rule.category.find('\n'), std::string::npos) << rule.source;
  }
}

}  // namespace
}  // namespace culprit::analysis
