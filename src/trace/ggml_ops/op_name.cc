#include "trace/ggml_ops/op_name.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/parse_number.h"

namespace culprit::trace::ggml_ops {
namespace {

constexpr std::string_view kUnnamed = "unnamed";

template <std::size_t kSize>
std::string_view TextOf(const char (&field)[kSize]) {
  return {field, ::strnlen(field, kSize)};
}

bool IsNumber(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

Layer LayerNumber(std::string_view digits) { return base::ParseNumber<std::uint16_t>(digits); }

// A tensor's name is taken apart: what it is called in every layer, and in which layer this one is.
//   blk.12.ffn_gate_exps.weight    a weight
//   cache_k_l12 (view) (permuted)  a cache, seen through views
//   Qcur-12 (reshaped), norm       what a graph computes
//   CUDA0#attn_inp_k_rot#0         a copy of it on another backend
//   node_24, leaf_3                what has no name and was numbered
struct TensorName {
  enum class Kind { kNone, kComputed, kCache, kWeight } kind = Kind::kNone;
  std::string_view label;
  Layer layer;
};

TensorName WeightName(std::string_view text) {
  TensorName name{TensorName::Kind::kWeight, text.substr(0, text.rfind('.')), {}};
  constexpr std::string_view kBlock = "blk.";
  if (!name.label.starts_with(kBlock)) return name;
  const std::size_t dot = name.label.find('.', kBlock.size());
  if (dot == std::string_view::npos) return name;
  name.layer = LayerNumber(name.label.substr(kBlock.size(), dot - kBlock.size()));
  if (name.layer) name.label.remove_prefix(dot + 1);
  return name;
}

// "CUDA0#attn_inp_k_rot#0" → "attn_inp_k_rot"
std::string_view WithoutCopy(std::string_view text) {
  const std::size_t first = text.find('#'), last = text.rfind('#');
  if (first == last || !IsNumber(text.substr(last + 1))) return text;
  return text.substr(first + 1, last - first - 1);
}

TensorName ParseTensorName(std::string_view text) {
  text = WithoutCopy(text.substr(0, text.find(" (")));
  if (text.ends_with(".weight") || text.ends_with(".bias")) return WeightName(text);
  const bool cache = text.starts_with("cache_");
  TensorName name{cache ? TensorName::Kind::kCache : TensorName::Kind::kComputed, text, {}};
  const std::string_view mark = cache ? "_l" : "-";
  if (const std::size_t at = text.rfind(mark); at != std::string_view::npos) {
    name.layer = LayerNumber(text.substr(at + mark.size()));
    if (name.layer) name.label = text.substr(0, at);
  }
  const bool numbered =
      (text.starts_with("node_") || text.starts_with("leaf_")) && IsNumber(text.substr(5));
  if (name.label.empty() || numbered) name.kind = TensorName::Kind::kNone;
  return name;
}

bool Exists(const culprit_ops_tensor& tensor) { return tensor.size[0] != 0; }

// "q4_K" is written "Q4_K", as kernels write it.
std::string TypeOf(const culprit_ops_tensor& tensor) {
  std::string type(TextOf(tensor.type));
  for (char& c : type) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return type;
}

std::string TypesOf(const culprit_ops_definition& definition, std::string_view op) {
  const auto& [first, second, third] = definition.source;
  if (op.starts_with("FLASH_ATTN") && Exists(second)) {
    const std::string keys = TypeOf(second), values = TypeOf(third);
    return keys == values || !Exists(third) ? keys : keys + ", " + values;
  }
  const bool reads = op.starts_with("MUL_MAT") || op == "GET_ROWS" || op == "OUT_PROD";
  return TypeOf(reads && Exists(first) ? first : definition.node);
}

}  // namespace

OpName NameOf(const culprit_ops_definition& definition) {
  TensorName best = ParseTensorName(TextOf(definition.node.name));
  Layer layer = best.layer;
  if (best.label != "result_output") {
    for (const culprit_ops_tensor& source : definition.source) {
      if (!Exists(source)) continue;
      const TensorName name = ParseTensorName(TextOf(source.name));
      if (!layer) layer = name.layer;
      const bool better = best.kind == TensorName::Kind::kNone
                              ? name.kind != TensorName::Kind::kNone
                              : name.kind > best.kind;
      if (better) best = name;
    }
  }
  const std::string_view op = TextOf(definition.op);
  const std::string_view label = best.kind == TensorName::Kind::kNone ? kUnnamed : best.label;
  std::string text(op);
  text += '<';
  text += label;
  text += ", ";
  text += TypesOf(definition, op);
  text += '>';
  return {std::move(text), layer};
}

}  // namespace culprit::trace::ggml_ops
