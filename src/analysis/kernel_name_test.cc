#include "analysis/kernel_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace culprit::analysis {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(KernelName, ReadsWhatLlvmDemangles) {
  const KernelName name = ParseKernelName(
      "void mul_mat_vec_q<(ggml_type)12, 1, true, false>(void const*, HIP_vector_type<unsigned "
      "int, 3u>, unsigned int) [clone .kd]");
  EXPECT_EQ(name.base, "mul_mat_vec_q");
  EXPECT_THAT(name.arguments, ElementsAre("Q4_K", "1", "true", "false"));
  EXPECT_EQ(name.ggml_type, 12);
  EXPECT_EQ(name.type_name, "Q4_K");
  EXPECT_EQ(name.operation, "");
}

TEST(KernelName, ReadsTheSameFromNsysAndFromAMangledName) {
  for (const char* text :
       {"void mul_mat_vec_q<(ggml_type)12, (int)1, (bool)1, (bool)0>(const void *, const void *)",
        "mul_mat_vec_q<(ggml_type)12, (int)1, (bool)1, (bool)0>",
        "_Z13mul_mat_vec_qIL9ggml_type12ELi1ELb1ELb0EEvPKvS2_PKi31ggml_cuda_mm_fusion_args_device",
        "_Z13mul_mat_vec_qIL9ggml_type12ELi1ELb1ELb0EEvPKv.kd"}) {
    const KernelName name = ParseKernelName(text);
    EXPECT_EQ(name.base, "mul_mat_vec_q") << text;
    EXPECT_THAT(name.arguments, ElementsAre("Q4_K", "1", "true", "false")) << text;
    EXPECT_EQ(name.type_name, "Q4_K") << text;
  }
}

TEST(KernelName, KeepsTheNumberOfAForksType) {
  const KernelName name = ParseKernelName("mul_mat_q<(ggml_type)142,(int)128>");
  EXPECT_EQ(name.ggml_type, 142);
  EXPECT_EQ(name.type_name, "type 142");
  EXPECT_EQ(ParseKernelName("flash_attn_ext_vec<256,1,Q4_0,Q4_0>").ggml_type, 2);
  EXPECT_EQ(ParseKernelName("f<(ggml_type)39>").type_name, "MXFP4");
}

TEST(KernelName, SurvivesNamesThatWereCutOff) {
  const KernelName table = ParseKernelName(
      "void rms_norm_f32<(int)1024, (bool)1, (bool)0>(const float *, float *, int, long, float…");
  EXPECT_EQ(table.base, "rms_norm_f32");
  EXPECT_THAT(table.arguments, ElementsAre("1024", "true", "false"));
  EXPECT_THAT(ParseKernelName("rms_norm_mul_rope_f32<(int)256,…>").arguments, ElementsAre("256"));
  const KernelName torn = ParseKernelName("void mul_mat_q<(ggml_type)8, 128, tr");
  EXPECT_EQ(torn.base, "mul_mat_q");
  EXPECT_THAT(torn.arguments, ElementsAre("Q8_0", "128"));
  const KernelName symbol = ParseKernelName("_Z9mul_mat_qIL9ggml_type12ELi1");
  EXPECT_EQ(symbol.base, "mul_mat_q");
  EXPECT_THAT(symbol.arguments, ElementsAre("Q4_K"));
}

TEST(KernelName, FindsTheOperationOfAGeneralKernel) {
  EXPECT_EQ(
      ParseKernelName("void k_bin_bcast<&(op_add(float, float)), float, float>(float*)").Short(),
      "k_bin_bcast<op_add>");
  EXPECT_EQ(
      ParseKernelName("k_bin_bcast<&_INTERNAL_1e37ac7f_11_binbcast_cu_6840010b::op_add, float>")
          .Short(),
      "k_bin_bcast<op_add>");
  EXPECT_EQ(ParseKernelName("_Z11k_bin_bcastIXadL_ZN56_INTERNAL_1e37ac7f_11_binbcast_cu_6840010b_"
                            "1234567890126op_addEffEEfffJPKfEEvPKT0_")
                .base,
            "k_bin_bcast");
  EXPECT_EQ(
      ParseKernelName("void unary_gated_op_kernel<&op_silu, float>(const T2 *, long)").operation,
      "op_silu");
  EXPECT_EQ(
      ParseKernelName(
          "void cpy_scalar<&(void cpy_1_scalar<float, float>(char const*, char*))>(char const*)")
          .operation,
      "cpy_1_scalar");
}

TEST(KernelName, TakesAnOpOfAGraphApart) {
  const KernelName product = ParseKernelName("MUL_MAT<ffn_gate_exps, Q4_K>");
  EXPECT_EQ(product.base, "MUL_MAT");
  EXPECT_EQ(product.operation, "ffn_gate_exps");
  EXPECT_EQ(product.type_name, "Q4_K");
  EXPECT_EQ(product.Short(), "MUL_MAT<ffn_gate_exps>");
  EXPECT_EQ(ParseKernelName("RMS_NORM+MUL<attn_norm, F32>").Short(), "RMS_NORM+MUL<attn_norm>");
  EXPECT_EQ(ParseKernelName("Add<float>").operation, "");
}

TEST(KernelName, LooksThroughPyTorchsWrappers) {
  const KernelName copy = ParseKernelName(
      "void at::native::elementwise_kernel_manual_unroll<128, 4, "
      "at::native::gpu_kernel_impl_nocast<"
      "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() "
      "const::{lambda()#3}::operator()() const::{lambda(int)#1}>(at::TensorIteratorBase&, "
      "at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() "
      "const)::{lambda(int, bool)#1}>(int, at::native::gpu_kernel_impl_nocast<int>)");
  EXPECT_EQ(copy.Short(), "at::native::elementwise_kernel_manual_unroll<direct_copy_kernel_cuda>");
  const KernelName mul = ParseKernelName(
      "void at::native::vectorized_elementwise_kernel<4, at::native::BUnaryFunctor<float, float, "
      "float, "
      "at::native::binary_internal::MulFunctor<float> >, std::array<char*, 2ul> >(int)");
  EXPECT_EQ(mul.Short(), "at::native::vectorized_elementwise_kernel<MulFunctor>");
  const KernelName cat = ParseKernelName(
      "void at::native::(anonymous namespace)::CatArrayBatchedCopy<at::native::(anonymous "
      "namespace)::OpaqueType<2u>, unsigned int, 4, 64, 64>(at::native::(anonymous "
      "namespace)::X*)");
  EXPECT_EQ(cat.base, "at::native::CatArrayBatchedCopy");
}

TEST(KernelName, KeepsTheNamespacesOfLibrariesButNotTheirVersions) {
  EXPECT_EQ(ParseKernelName("void rocprim::ROCPRIM_400001_NS::detail::transform_kernel<true, "
                            "rocprim::ROCPRIM_400001_NS::detail::x<long>, long>(long*)")
                .base,
            "rocprim::detail::transform_kernel");
  EXPECT_EQ(
      ParseKernelName("void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x64_32x6_tn_align4>"
                      "(cutlass_80_tensorop_s1688gemm_128x64_32x6_tn_align4::Params)")
          .Short(),
      "cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_128x64_32x6_tn_align4>");
  EXPECT_EQ(
      ParseKernelName("_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdINS_27Rmsnorm2dFwdPipelineOnePassI"
                      "DF16bDF16bfEEEEJNS_4argsEEEEvDpT1_")
          .Short(),
      "ck_tile::kentry<Rmsnorm2dFwd>");
  EXPECT_EQ(
      ParseKernelName("_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16ELb0EEEvPT0_").base,
      "aiter::add_rmsnorm_quant_kernel");
  EXPECT_EQ(
      ParseKernelName("(anonymous namespace)::batch_argmax_stage1_kernel(float const*, long)").base,
      "batch_argmax_stage1_kernel");
  EXPECT_EQ(
      ParseKernelName("std::enable_if<(((8)>(0)))&&_typeConvert<c10::Half>::exists, void>::type "
                      "vllm::scaled_fused_add_rms_norm_kernel<c10::Half, 8>(c10::Float8_e4m3fnuz*)")
          .Short(),
      "vllm::scaled_fused_add_rms_norm_kernel");
}

TEST(KernelName, KeepsWhatIsNoFunctionNameAsItIs) {
  for (const char* text : {"Cijk_Ailk_Bljk_HSS_BH_MT64x32x8_SE", "triton_poi_fused__to_copy_1",
                           "__amd_rocclr_copyBuffer", "Memcpy DtoD (Device -> Device)", "_Z/13H",
                           "_Z", "<", "(", "::", "…", "_ZTV17ggml_cuda_pool_vmm"}) {
    const KernelName name = ParseKernelName(text);
    EXPECT_EQ(name.base, text);
    EXPECT_THAT(name.arguments, IsEmpty()) << text;
  }
  EXPECT_EQ(ParseKernelName("").base, "");
  EXPECT_EQ(ParseKernelName("gdn_ar_w.kd").base, "gdn_ar_w");
}

// Each of these, once parsed in other ways, took quadratic time, the whole stack, or 2^n bytes.
TEST(KernelName, TakesHostileNames) {
  const auto repeat = [](std::string_view text, std::size_t times) {
    std::string all;
    for (std::size_t i = 0; i < times; ++i) all += text;
    return all;
  };
  const std::size_t n = 65536;
  for (const std::string& text : std::initializer_list<std::string>{
           repeat("<", n),
           repeat("(", n),
           repeat("f<", n),
           repeat("f(", n),
           repeat("::", n),
           repeat(" a", n),
           "a" + repeat(" ", n) + "b",
           repeat("&(", n),
           "f<" + repeat("at::native::BinaryFunctor<", n / 26),
           "_Z1fI" + repeat("1gI", n / 3),
           "_Z" + repeat("Z", n),
           "_ZN" + repeat("1aI", n / 3),
           "_Z1fI" + repeat("P", n) + "iE",
           "_Z1fI" + repeat("J", n),
           "_Z99999999999999999999f",
           "_Z1fIL" + repeat("L", n),
           "_Z1fI13BinaryFunctorI" + repeat("13BinaryFunctorI", n / 16),
           std::string(n, '\0'),
           "f<" + std::string("\xff\xfe\x80", 3) + ">",
           repeat("operator()", n / 10)}) {
    const KernelName name = ParseKernelName(text);
    EXPECT_FALSE(name.base.empty());
  }
}

}  // namespace
}  // namespace culprit::analysis
