#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace culprit::analysis {

// KernelName is what the name of a kernel says, whoever wrote it: LLVM's demangler, nsys, a
// linker (`_Z13mul_mat_vec_qIL9ggml_type12E…`), or a profiler that cut it off.
//
// Made by ParseKernelName, in one pass over the name and without recursion: names come from
// hostile files. The system's demangler is not used: it keeps its state on the stack and a name
// of 200 bytes can make it write gigabytes; and some HIP names defeat it.
struct KernelName {
  // The function's name with the namespaces of its library, without return type, template
  // arguments, parameters, anonymous and versioned inline namespaces: "mul_mat_vec_q",
  // "at::native::reduce_kernel", "rocprim::detail::scan_kernel". Never empty for a name that is
  // not: what cannot be taken apart is kept as it is.
  std::string base;

  // Template arguments in order, spelt the same way whoever wrote them: "4", "true", "Q4_K",
  // "(mmq_q8_1_ds_layout)1", "float". A mangled argument that is no literal, built-in type or
  // plain name is "?"; one that breaks off is missing.
  std::vector<std::string> arguments;

  // What a general kernel does, when its arguments say so: the base name of the first argument
  // that is a function or a class of some library: "op_add" of `k_bin_bcast<&(op_add(float,
  // float)), …>`, "direct_copy_kernel_cuda", "cutlass_80_tensorop_…". What an op of a graph works
  // on: "ffn_gate" of `MUL_MAT<ffn_gate, Q4_K>`. Empty for most.
  std::string operation;

  // The first argument of type ggml_type.
  std::optional<int> ggml_type;
  // Its name, "Q4_K" or "type 142"; empty without one.
  std::string type_name;

  // "k_bin_bcast<op_add>": base and operation, what a reader wants to see of a name.
  [[nodiscard]] std::string Short() const;
};

KernelName ParseKernelName(std::string_view full_name);

}  // namespace culprit::analysis
