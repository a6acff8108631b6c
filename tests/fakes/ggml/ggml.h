#pragma once

#include <cstdint>

// A libggml as far as src/inject/ggml calls it. Its tensors are laid out as no real ggml's are.
extern "C" {

struct ggml_tensor {
  std::int64_t flags;
  ggml_tensor* src[4];
  const char* op;
  std::int32_t padding;
  std::int32_t type;
  std::int64_t ne[4];
  char name[64];
};

struct ggml_cgraph {
  ggml_tensor* nodes;
  int count;
};

using ggml_callback = bool (*)(ggml_tensor*, bool ask, void* user_data);
struct ggml_backend_sched;

ggml_backend_sched* ggml_backend_sched_new();
void ggml_backend_sched_free(ggml_backend_sched* scheduler);
void ggml_backend_sched_set_eval_callback(ggml_backend_sched* scheduler, ggml_callback callback,
                                          void* user_data);
int ggml_backend_sched_graph_compute_async(ggml_backend_sched* scheduler, ggml_cgraph* graph);
}
