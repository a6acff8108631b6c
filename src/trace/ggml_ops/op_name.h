#pragma once

#include <string>

#include "inject/wire/ggml_ops.h"
#include "trace/trace.h"

namespace culprit::trace::ggml_ops {

// OpName is what is shown of an op: "MUL_MAT<ffn_gate_exps, Q4_K>", in the manner of a kernel with
// template arguments. Layers have no part in it, nor has what llama.cpp numbers anew for each
// graph, so that the same work has the same name in every layer and every build.
//
// The first argument is what the op works on: the weight, else the KV cache, else the name that
// llama.cpp gave its result, else "unnamed". The last is the type of what is read (a product, a
// gather, attention) or else written; attention over keys and values of two types has both.
struct OpName {
  std::string text;
  Layer layer;
};

OpName NameOf(const culprit_ops_definition& definition);

}  // namespace culprit::trace::ggml_ops
