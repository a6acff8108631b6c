// What both ways of writing a name, demangled and mangled, have in common.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/kernel_name.h"

namespace culprit::analysis {

// IsNoiseScope tells scopes that differ between builds of the same code or say nothing: "",
// "(anonymous namespace)", nvcc's "_INTERNAL_1e37ac7f_11_binbcast_cu_6840010b" and versioned
// inline namespaces ("ROCPRIM_400001_NS", "__4").
bool IsNoiseScope(std::string_view scope);

// IsWrapper tells functions and classes that only carry another one in their arguments:
// at::native::gpu_kernel_impl<…>, BinaryFunctor<…, MulFunctor<float>>.
bool IsWrapper(std::string_view name);

// IsElementType tells names of number types that live in a namespace: c10::BFloat16, std::….
bool IsElementType(const std::vector<std::string_view>& scopes);

// JoinScopes writes "a::b::c", without the noise.
std::string JoinScopes(const std::vector<std::string_view>& scopes);

// EnumArgument writes an enumerator passed as argument: "Q4_K" for (ggml_type)12, in which case
// it also fills the type of name, else "(mmq_q8_1_ds_layout)1".
std::string EnumArgument(std::string_view type, std::string_view value, KernelName& name);

}  // namespace culprit::analysis
