#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace culprit::inject {

// What is called of ggml. Its headers are not there when this is built, and its structs have
// changed over the years; these functions have not.
using Tensor = void;     // struct ggml_tensor
using Scheduler = void;  // struct ggml_backend_sched
using EvalCallback = bool (*)(Tensor* tensor, bool ask, void* user_data);

// GgmlApi holds the functions of the libggml that the program runs with.
struct GgmlApi {
  void (*set_eval_callback)(Scheduler*, EvalCallback, void*);
  int (*graph_compute_async)(Scheduler*, void* graph);
  void (*scheduler_free)(Scheduler*);
  void* (*get_proc_address)(void* registry, const char* name);  // not in old ones
  void* (*tensor_backend)(Scheduler*, Tensor*);
  const char* (*backend_name)(void* backend);
  const char* (*op_desc)(const Tensor*);
  const char* (*get_name)(const Tensor*);
  const char* (*type_name)(int type);
  bool complete;  // all of these are there
};

const GgmlApi& Ggml();

// CpuBackend is the backend of a scheduler that computes on the host, and the function by which it
// can be asked to call back after each node; both null where there is none.
using AbortCallback = bool (*)(void* user_data);
using AbortSetter = void (*)(void* backend, AbortCallback, void* user_data);
struct CpuBackend {
  void* backend;
  AbortSetter set_abort_callback;
};
CpuBackend FindCpuBackend(Scheduler* scheduler);
AbortSetter AbortSetterOf(void* backend);  // null where a backend has none

// TensorLayout says where in a ggml_tensor its fields are, in bytes.
struct TensorLayout {
  std::size_t type, size, source, name;
  bool known;
  std::size_t flags;
  bool flags_known;  // may be false where the rest is known
};

// FindLayout looks where the fields are in the product of two tensors made for the purpose, so that
// no layout is assumed. Not known where that fails.
TensorLayout FindLayout();

// Field is what stands in a tensor at an offset.
template <typename T>
T Field(const Tensor* tensor, std::size_t offset) {
  T value;
  std::memcpy(&value, static_cast<const char*>(tensor) + offset, sizeof value);
  return value;
}

}  // namespace culprit::inject
