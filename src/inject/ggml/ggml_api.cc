#include "inject/ggml/ggml_api.h"

#include <dlfcn.h>

#include <cstring>

namespace culprit::inject {
namespace {

// Load looks behind this library, which has functions of the same names itself.
template <typename Function>
bool Load(const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
  return function != nullptr;
}

GgmlApi LoadGgml() {
  GgmlApi api{};
  // All are tried: those that this library stands in for must be passed on in any case.
  static_cast<void>(Load("ggml_backend_reg_get_proc_address", api.get_proc_address));
  int found = 0;
  found += Load("ggml_backend_sched_set_eval_callback", api.set_eval_callback);
  found += Load("ggml_backend_sched_graph_compute_async", api.graph_compute_async);
  found += Load("ggml_backend_sched_free", api.scheduler_free);
  found += Load("ggml_backend_sched_get_tensor_backend", api.tensor_backend);
  found += Load("ggml_backend_name", api.backend_name);
  found += Load("ggml_op_desc", api.op_desc);
  found += Load("ggml_get_name", api.get_name);
  found += Load("ggml_type_name", api.type_name);
  api.complete = found == 8;
  return api;
}

// struct ggml_init_params, which is passed by value.
struct InitParams {
  std::size_t bytes;
  void* memory;
  bool no_alloc;
};

struct ProbeApi {
  void* (*init)(InitParams);
  void (*free)(void* context);
  Tensor* (*new_tensor_2d)(void* context, int type, std::int64_t, std::int64_t);
  Tensor* (*mul_mat)(void* context, Tensor*, Tensor*);
  void (*set_input)(Tensor*);
};

// Probe is the product of a matrix, Q8_0 of 32 × 5, with one of 32 × 7 floats: floats of 5 × 7.
struct Probe {
  static constexpr int kF32 = 0, kQ8_0 = 8;
  Tensor *matrix, *activations, *product;
};

TensorLayout Measure(const Probe& probe) {
  TensorLayout layout{};
  layout.name = static_cast<std::size_t>(Ggml().get_name(probe.product) -
                                         static_cast<const char*>(probe.product));
  constexpr std::size_t kLargestTensor = 4096;
  if (layout.name < 64 || layout.name > kLargestTensor) return layout;
  bool type = false, size = false, source = false;
  for (std::size_t at = 0; at + 4 <= layout.name && !type; at += 4) {
    type = Field<int>(probe.matrix, at) == Probe::kQ8_0 &&
           Field<int>(probe.activations, at) == Probe::kF32 &&
           Field<int>(probe.product, at) == Probe::kF32;
    layout.type = at;
  }
  constexpr std::int64_t kSize[4] = {5, 7, 1, 1};
  for (std::size_t at = 0; at + sizeof kSize <= layout.name && !size; at += 8) {
    size = std::memcmp(static_cast<const char*>(probe.product) + at, kSize, sizeof kSize) == 0;
    layout.size = at;
  }
  // At least three operands lie between the first and the name.
  for (std::size_t at = 0; at + 3 * sizeof(void*) <= layout.name && !source; at += 8) {
    source = Field<Tensor*>(probe.product, at) == probe.matrix &&
             Field<Tensor*>(probe.product, at + 8) == probe.activations &&
             Field<Tensor*>(probe.product, at + 16) == nullptr;
    layout.source = at;
  }
  layout.known = type && size && source;
  return layout;
}

// The flags are what changes when a tensor that no op makes becomes an input of its graph.
void FindFlags(const ProbeApi& api, Tensor* tensor, TensorLayout& layout) {
  constexpr std::size_t kLargest = 4096;
  char before[kLargest];
  std::memcpy(before, tensor, layout.name);
  api.set_input(tensor);
  for (std::size_t at = 0; at + 4 <= layout.name && !layout.flags_known; at += 4) {
    int old = 0;
    std::memcpy(&old, before + at, sizeof old);
    layout.flags_known = old == 0 && Field<int>(tensor, at) == 1;
    layout.flags = at;
  }
}

}  // namespace

AbortSetter AbortSetterOf(void* backend) {
  void* (*device_of)(void* backend);
  void* (*registry_of)(void* device);
  const bool found = Load("ggml_backend_get_device", device_of) &&
                     Load("ggml_backend_dev_backend_reg", registry_of);
  if (!found || Ggml().get_proc_address == nullptr) return nullptr;
  void* const device = device_of(backend);
  if (device == nullptr) return nullptr;
  return reinterpret_cast<AbortSetter>(
      Ggml().get_proc_address(registry_of(device), "ggml_backend_set_abort_callback"));
}

CpuBackend FindCpuBackend(Scheduler* scheduler) {
  int (*count)(Scheduler*);
  void* (*backend_at)(Scheduler*, int);
  const bool found = Load("ggml_backend_sched_get_n_backends", count) &&
                     Load("ggml_backend_sched_get_backend", backend_at);
  for (int i = 0; found && i < count(scheduler); ++i) {
    void* const backend = backend_at(scheduler, i);
    if (std::strcmp(Ggml().backend_name(backend), "CPU") != 0) continue;
    const AbortSetter setter = AbortSetterOf(backend);
    if (setter != nullptr) return {backend, setter};
  }
  return {};
}

const GgmlApi& Ggml() {
  static const GgmlApi api = LoadGgml();
  return api;
}

TensorLayout FindLayout() {
  static_assert(sizeof(void*) == 8);
  ProbeApi api{};
  const bool found = Load("ggml_init", api.init) && Load("ggml_free", api.free) &&
                     Load("ggml_new_tensor_2d", api.new_tensor_2d) &&
                     Load("ggml_mul_mat", api.mul_mat);
  if (!found || !Ggml().complete) return {};
  void* const context = api.init({.bytes = 65536, .memory = nullptr, .no_alloc = true});
  if (context == nullptr) return {};
  Probe probe{};
  probe.matrix = api.new_tensor_2d(context, Probe::kQ8_0, 32, 5);
  probe.activations = api.new_tensor_2d(context, Probe::kF32, 32, 7);
  probe.product = api.mul_mat(context, probe.matrix, probe.activations);
  TensorLayout layout = Measure(probe);
  if (layout.known && Load("ggml_set_input", api.set_input)) FindFlags(api, probe.matrix, layout);
  api.free(context);
  return layout;
}

}  // namespace culprit::inject
