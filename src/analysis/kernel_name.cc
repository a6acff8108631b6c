#include "analysis/kernel_name.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "analysis/ggml_type.h"
#include "analysis/mangled_name.h"
#include "analysis/name_parts.h"
#include "base/parse_number.h"

namespace culprit::analysis {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)";

std::string_view Trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Brackets follows nesting. A '>' counts only where a '<' is open: in `((8)>(0))` and `a->b` it
// is an operator.
class Brackets {
 public:
  void Step(char c) {
    if (c == '<' || c == '(' || c == '{' || c == '[') {
      open_.push_back(c);
    } else if (c == '>') {
      if (!open_.empty() && open_.back() == '<') open_.pop_back();
    } else if (c == ')') {
      Close('(');
    } else if (c == '}') {
      Close('{');
    } else if (c == ']') {
      Close('[');
    }
  }
  [[nodiscard]] std::size_t depth() const { return open_.size(); }

 private:
  // A '<' inside is a comparison when its bracket closes first.
  void Close(char opening) {
    while (!open_.empty() && open_.back() == '<' && opening != '<') open_.pop_back();
    if (!open_.empty() && open_.back() == opening) open_.pop_back();
  }
  std::vector<char> open_;
};

// Section is what stands between a bracket and its partner.
struct Section {
  std::size_t end;                      // past the closing bracket, or the end of the text
  std::vector<std::string_view> parts;  // split at the commas of the outermost level
};

// A section that breaks off loses its last part, which may be cut in the middle.
Section ReadSection(std::string_view text, std::size_t open) {
  Section section{text.size(), {}};
  Brackets brackets;
  std::size_t part = open + 1;
  for (std::size_t i = open; i < text.size(); ++i) {
    brackets.Step(text[i]);
    if (brackets.depth() == 0) {
      const std::string_view last = Trim(text.substr(part, i - part));
      if (!last.empty()) section.parts.push_back(last);
      section.end = i + 1;
      break;
    }
    if (text[i] == ',' && brackets.depth() == 1) {
      section.parts.push_back(Trim(text.substr(part, i - part)));
      part = i + 1;
    }
  }
  return section;
}

// Spelled is a name taken apart: its scopes, the last of which is its own name, the template
// arguments of that, and whether it had a parameter list.
struct Spelled {
  std::vector<std::string_view> scopes;
  std::vector<std::string_view> arguments;
  bool function = false;
};

// SpelledReader reads what a demangler wrote, for example
//   void at::native::(anonymous namespace)::CatArrayBatchedCopy<…>(…) [clone .kd]
//   std::enable_if<(((8)>(0))), void>::type vllm::scaled_fused_add_rms_norm_kernel<…>(…)
//   at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}::operator()() const
class SpelledReader {
 public:
  explicit SpelledReader(std::string_view text) : text_(text) {}

  Spelled Read() {
    while (at_ < text_.size() && Step()) {
    }
    FinishScope();
    return std::move(result_);
  }

 private:
  // Step returns false at the end of the name.
  bool Step() {
    const std::string_view rest = text_.substr(at_);
    if (rest.starts_with("::")) {
      FinishScope();
      at_ += 2;
    } else if (rest.starts_with(kAnonymous)) {
      at_ += kAnonymous.size();
    } else if (rest.starts_with("\u2026")) {
      return false;
    } else if (rest.front() == '(') {
      return StepParenthesis();
    } else if (rest.front() == '<') {
      Section section = ReadSection(text_, at_);
      at_ = section.end;
      arguments_ = std::move(section.parts);
    } else if (rest.front() == '{' || rest.starts_with("[abi:")) {
      at_ = ReadSection(text_, at_).end;
    } else if (rest.front() == ' ') {
      return StepSpace();
    } else {
      TakeCharacter();
    }
    return true;
  }

  // A parenthesis opens the parameters, which end the name unless something local to the function
  // follows; in front of everything it only groups: `(op_add(float, float))`.
  bool StepParenthesis() {
    if (scope_.empty() && result_.scopes.empty()) {
      ++at_;
      return true;
    }
    at_ = ReadSection(text_, at_).end;
    result_.function = true;
    if (text_.substr(at_).starts_with(" const")) at_ += 6;
    return text_.substr(at_).starts_with("::") || text_.substr(at_).starts_with("(");
  }

  // What stands before a space was a return type.
  bool StepSpace() {
    at_ = std::min(text_.find_first_not_of(' ', at_), text_.size());
    const std::string_view rest = text_.substr(at_);
    if (rest.empty() || rest.front() == '[') return false;
    if (rest.front() == '(' && !rest.starts_with(kAnonymous)) return false;
    if (rest.starts_with("const")) return false;  // of a type: `lookback_scan_state<…> const`
    scope_ = {};
    arguments_.clear();
    result_ = {};
    return true;
  }

  void TakeCharacter() {
    if (scope_.empty()) scope_ = text_.substr(at_, 0);
    scope_ = std::string_view(scope_.data(), scope_.size() + 1);
    ++at_;
    if (scope_ == "operator" && text_.substr(at_).starts_with("()")) at_ += 2;
  }

  // The call of a function object is no name of its own; the function around it is.
  void FinishScope() {
    if (!scope_.empty() && scope_ != "operator" && !IsNoiseScope(scope_)) {
      result_.scopes.push_back(scope_);
      result_.arguments = std::move(arguments_);
    }
    scope_ = {};
    arguments_.clear();
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string_view scope_;                   // the scope being read
  std::vector<std::string_view> arguments_;  // its template arguments
  Spelled result_;
};

// OperationOf is the KernelName::operation that an argument stands for, or empty. Wrappers are
// opened at most `depth` deep.
std::string OperationOf(std::string_view argument, int depth) {
  const bool reference = argument.starts_with('&');
  if (reference) argument.remove_prefix(1);
  if (!reference && argument.find_first_of(":<({") == std::string_view::npos) {
    return argument.starts_with("cutlass") ? std::string(argument) : std::string();
  }
  if (argument.starts_with('(') && !reference && !argument.starts_with(kAnonymous)) return {};
  const Spelled spelled = SpelledReader(argument).Read();
  if (spelled.scopes.empty() || IsElementType(spelled.scopes)) return {};
  const std::string_view name = spelled.scopes.back();
  if (!IsWrapper(name)) return std::string(name);
  if (depth == 0) return {};
  for (const std::string_view inner : spelled.arguments) {
    if (std::string operation = OperationOf(inner, depth - 1); !operation.empty()) return operation;
  }
  return {};
}

// Normalised writes one argument the same way for all demanglers: nsys has `(int)1`, `(bool)0`
// and `(unsigned int)4` where LLVM has `1`, `false` and `4u`.
std::string Normalised(std::string_view argument, KernelName& name) {
  if (argument.starts_with('(') && !argument.starts_with(kAnonymous)) {
    const std::size_t close = argument.find(')');
    if (close != std::string_view::npos && close + 1 < argument.size()) {
      return EnumArgument(argument.substr(1, close - 1), argument.substr(close + 1), name);
    }
  }
  const std::size_t digits = argument.starts_with('-') ? 1 : 0;
  if (digits < argument.size() && argument[digits] >= '0' && argument[digits] <= '9') {
    const std::size_t end = argument.find_last_not_of("uUlL");
    return std::string(argument.substr(0, end + 1));
  }
  if (!name.ggml_type) {
    if (const auto type = GgmlTypeNumber(argument))
      return EnumArgument("ggml_type", std::to_string(*type), name);
  }
  return std::string(argument);
}

// An op of a graph has a name in capitals, and the first argument says what it works on:
//   MUL_MAT<ffn_gate, Q4_K>, RMS_NORM+MUL<attn_norm, F32>
bool IsGraphOp(std::string_view base) {
  return base.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+") == std::string_view::npos;
}

KernelName ParseSpelledName(std::string_view text) {
  const Spelled spelled = SpelledReader(text).Read();
  KernelName name;
  name.base = JoinScopes(spelled.scopes);
  for (const std::string_view argument : spelled.arguments) {
    if (argument.starts_with("\u2026")) break;
    name.arguments.push_back(Normalised(argument, name));
    if (name.operation.empty()) name.operation = OperationOf(argument, 4);
  }
  if (!name.arguments.empty() && IsGraphOp(name.base)) name.operation = name.arguments.front();
  return name;
}

// A name without brackets is a plain word, or words; so are Kineto's copies:
//   Memcpy DtoD (Device -> Device)
bool IsSpelled(std::string_view text) {
  if (text.starts_with("Memcpy ") || text.starts_with("Memset ")) return false;
  return text.find_first_of("<(:") != std::string_view::npos;
}

}  // namespace

bool IsNoiseScope(std::string_view scope) {
  if (scope.empty() || scope.starts_with("_INTERNAL_") || scope.starts_with("_GLOBAL__N"))
    return true;
  if (scope.ends_with("_NS")) {
    return scope.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
           std::string_view::npos;
  }
  return scope.starts_with("__") && scope.size() > 2 &&
         scope.find_first_not_of("0123456789", 2) == std::string_view::npos;
}

bool IsWrapper(std::string_view name) {
  constexpr std::array<std::string_view, 10> kWrappers = {
      "gpu_kernel_impl", "gpu_kernel_impl_nocast", "gpu_index_kernel", "BinaryFunctor",
      "AUnaryFunctor",   "BUnaryFunctor",          "ReduceOp",         "func_wrapper_t",
      "GemmUniversal",   "device_kernel"};
  return std::find(kWrappers.begin(), kWrappers.end(), name) != kWrappers.end();
}

bool IsElementType(const std::vector<std::string_view>& scopes) {
  return scopes.front() == "c10" || scopes.front() == "std";
}

std::string JoinScopes(const std::vector<std::string_view>& scopes) {
  std::string joined;
  for (const std::string_view scope : scopes) {
    if (IsNoiseScope(scope)) continue;
    if (!joined.empty()) joined += "::";
    joined += scope;
  }
  return joined;
}

std::string EnumArgument(std::string_view type, std::string_view value, KernelName& name) {
  constexpr std::array<std::string_view, 9> kIntegers = {
      "int",  "unsigned int",  "long",      "unsigned long",     "short",
      "char", "unsigned char", "long long", "unsigned long long"};
  if (type == "bool") return value == "0" || value == "false" ? "false" : "true";
  if (std::find(kIntegers.begin(), kIntegers.end(), type) != kIntegers.end())
    return std::string(value);
  if (type == "ggml_type") {
    if (const auto number = base::ParseNumber<int>(value)) {
      std::string text = GgmlTypeName(*number);
      if (!name.ggml_type) {
        name.ggml_type = *number;
        name.type_name = text;
      }
      return text;
    }
  }
  return "(" + std::string(type) + ")" + std::string(value);
}

std::string KernelName::Short() const {
  return operation.empty() ? base : base + "<" + operation + ">";
}

KernelName ParseKernelName(std::string_view full_name) {
  std::string_view text = Trim(full_name);
  for (const std::string_view suffix : {" [clone .kd]", " (.kd)", ".kd"}) {
    if (text.ends_with(suffix)) text.remove_suffix(suffix.size());
  }
  KernelName name;
  if (text.starts_with("_Z")) {
    if (auto mangled = ParseMangledName(text)) name = *std::move(mangled);
  } else if (IsSpelled(text)) {
    name = ParseSpelledName(text);
  } else if (text.starts_with("void ")) {
    text.remove_prefix(5);
  }
  if (name.base.empty()) name.base = text.empty() ? full_name : text;
  return name;
}

}  // namespace culprit::analysis
