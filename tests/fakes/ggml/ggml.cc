#include "ggml.h"

#include <cstdlib>
#include <cstring>

struct ggml_backend_sched {
  ggml_callback callback;
  void* user_data;
};

namespace {
using AbortCallback = bool (*)(void*);
AbortCallback abort_callback = nullptr;
void* abort_data = nullptr;

// "CPU" computes a norm and its product at once, leaves out what is not marked, and asks after each
// whether to abort; others do none of this. With
// FAKE_MISCOUNTS it asks twice too often.
const char* Backend() {
  const char* const name = std::getenv("FAKE_BACKEND");
  return name != nullptr ? name : "FAKE0";
}

bool IsNoWork(const ggml_tensor* node) {
  return std::strcmp(node->op, "VIEW") == 0 || (node->flags & 16) == 0;
}

void ComputeOnCpu(const ggml_tensor* first, const ggml_tensor* last) {
  for (const ggml_tensor* node = first; node <= last; ++node) {
    if (IsNoWork(node)) continue;
    const bool pair = node < last && std::strcmp(node->op, "RMS_NORM") == 0 &&
                      std::strcmp(node[1].op, "MUL") == 0;
    if (abort_callback != nullptr) abort_callback(abort_data);
    if (pair) ++node;
  }
  const bool miscounts = std::getenv("FAKE_MISCOUNTS") != nullptr && abort_callback != nullptr;
  for (int more = miscounts ? 2 : 0; more > 0; --more) abort_callback(abort_data);
}

ggml_tensor made[16];
int count = 0;

struct InitParams {
  std::size_t bytes;
  void* memory;
  bool no_alloc;
};
}  // namespace

extern "C" {

ggml_backend_sched* ggml_backend_sched_new() { return new ggml_backend_sched{}; }
void ggml_backend_sched_free(ggml_backend_sched* scheduler) { delete scheduler; }
void ggml_backend_sched_set_eval_callback(ggml_backend_sched* scheduler, ggml_callback callback,
                                          void* user_data) {
  *scheduler = {callback, user_data};
}

// Nodes are computed together up to one that was asked for.
int ggml_backend_sched_graph_compute_async(ggml_backend_sched* scheduler, ggml_cgraph* graph) {
  ggml_tensor* first = graph->nodes;
  for (int i = 0; i < graph->count; ++i) {
    ggml_tensor* const node = &graph->nodes[i];
    const bool needed =
        scheduler->callback != nullptr && scheduler->callback(node, true, scheduler->user_data);
    if (!needed && i + 1 < graph->count) continue;
    if (std::strcmp(Backend(), "CPU") == 0) ComputeOnCpu(first, node);
    first = node + 1;
    if (needed && !scheduler->callback(node, false, scheduler->user_data)) return 1;
  }
  return 0;
}

void* ggml_backend_sched_get_tensor_backend(ggml_backend_sched* scheduler, ggml_tensor*) {
  return scheduler;
}
int ggml_backend_sched_get_n_backends(ggml_backend_sched*) { return 1; }
void* ggml_backend_sched_get_backend(ggml_backend_sched* scheduler, int) { return scheduler; }
const char* ggml_backend_name(void*) { return Backend(); }
void* ggml_backend_get_device(void* backend) { return backend; }
void* ggml_backend_dev_backend_reg(void* device) { return device; }
void* ggml_backend_reg_get_proc_address(void*, const char*) {
  return reinterpret_cast<void*>(+[](void*, AbortCallback callback, void* data) {
    abort_callback = callback;
    abort_data = data;
  });
}
void ggml_set_input(ggml_tensor* tensor) { tensor->flags |= 1; }
const char* ggml_op_desc(const ggml_tensor* tensor) { return tensor->op; }
const char* ggml_get_name(const ggml_tensor* tensor) { return tensor->name; }
const char* ggml_type_name(int type) { return type == 8 ? "q8_0" : "f32"; }

void* ggml_init(InitParams) { return made; }
void ggml_free(void*) {}
ggml_tensor* ggml_new_tensor_2d(void*, int type, std::int64_t x, std::int64_t y) {
  ggml_tensor* const tensor = &made[count++];
  *tensor = {.flags = 0,
             .src = {},
             .op = "NONE",
             .padding = 0,
             .type = type,
             .ne = {x, y, 1, 1},
             .name = {}};
  return tensor;
}
ggml_tensor* ggml_mul_mat(void* context, ggml_tensor* a, ggml_tensor* b) {
  ggml_tensor* const product = ggml_new_tensor_2d(context, 0, a->ne[1], b->ne[1]);
  product->op = "MUL_MAT";
  product->src[0] = a;
  product->src[1] = b;
  return product;
}
}
