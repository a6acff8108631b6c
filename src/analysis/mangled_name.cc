#include "analysis/mangled_name.h"

#include <string>
#include <utility>
#include <vector>

#include "analysis/name_parts.h"

namespace culprit::analysis {
namespace {

// Nesting beyond this is not read: real names stay below 30, hostile ones would use up the stack.
constexpr int kMaxDepth = 100;

// Name is a function or class as far as it was read. Substituted prefixes are missing from
// scopes.
struct Name {
  std::vector<std::string_view> scopes;
  KernelName own;          // what the template arguments of the last scope say
  bool templated = false;  // it has such arguments
  bool nested = false;     // it had a scope in front, spelt out or substituted
};

// Builtin types of one letter, in the order of kLetters.
constexpr std::string_view kLetters = "vwbcahstijlmxynofdegz";
constexpr std::string_view kBuiltins[] = {"void",        "wchar_t",
                                          "bool",        "char",
                                          "signed char", "unsigned char",
                                          "short",       "unsigned short",
                                          "int",         "unsigned int",
                                          "long",        "unsigned long",
                                          "long long",   "unsigned long long",
                                          "__int128",    "unsigned __int128",
                                          "float",       "double",
                                          "long double", "__float128",
                                          "..."};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLower(char c) { return c >= 'a' && c <= 'z'; }

// Reader walks over a mangled name. Every Read… returns false when it does not understand what
// it sees; the reader is then spent.
class Reader {
 public:
  explicit Reader(std::string_view text, std::size_t at = 0) : text_(text), at_(at) {}

  // encoding: name [types of the parameters]; the types only where an E must end them.
  bool ReadName(Name& name, int depth);
  // template-args: I argument* E. Stops early, with what it has, at one it does not understand.
  bool ReadArguments(KernelName& into, int depth);

 private:
  [[nodiscard]] char Peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool Take(char c) {
    if (Peek() != c) return false;
    ++at_;
    return true;
  }
  bool Take(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  bool ReadSourceName(std::string_view& name);
  bool ReadSubstitution();
  bool ReadSequence();
  bool ReadNested(Name& name, int depth);
  bool ReadLocal(Name& name, int depth);
  bool ReadUnqualified(Name& name, int depth);
  bool ReadOwnArguments(Name& name, int depth);
  bool ReadType(std::string& text, Name& name, int depth);
  bool SkipTypesToEnd(int depth);
  bool ReadEncodingToEnd(Name& name, int depth);
  bool ReadLiteral(std::string& text, KernelName& into, Name& name, int depth);
  bool ReadArgument(std::string& text, KernelName& into, Name& name, int depth);
  bool ReadD(std::string& text, Name& name, int depth);

  std::string_view text_;
  std::size_t at_;
};

// 13mul_mat_vec_q: the length, then the name.
bool Reader::ReadSourceName(std::string_view& name) {
  std::size_t length = 0;
  if (!IsDigit(Peek())) return false;
  while (IsDigit(Peek())) {
    length = length * 10 + static_cast<std::size_t>(Peek() - '0');
    if (length > text_.size()) return false;
    ++at_;
  }
  if (length == 0 || length > text_.size() - at_) return false;
  name = text_.substr(at_, length);
  at_ += length;
  return true;
}

// The number of a substitution, template parameter or lambda, up to its underscore.
bool Reader::ReadSequence() {
  while (IsDigit(Peek()) || (Peek() >= 'A' && Peek() <= 'Z')) ++at_;
  return Take('_');
}

// S_, S12_, St, Sa: something that was there before, or std.
bool Reader::ReadSubstitution() {
  if (!Take('S')) return false;
  if (IsLower(Peek())) {
    ++at_;
    return true;
  }
  return ReadSequence();
}

bool Reader::ReadOwnArguments(Name& name, int depth) {
  name.own = {};
  name.templated = true;
  return ReadArguments(name.own, depth + 1);
}

// A name without its scopes: source name, operator, lambda, constructor.
bool Reader::ReadUnqualified(Name& name, int depth) {
  Take('L');  // internal linkage
  std::string_view source;
  if (IsDigit(Peek())) {
    if (!ReadSourceName(source)) return false;
    if (!IsNoiseScope(source)) {
      name.scopes.push_back(source);
      name.own = {};
      name.templated = false;
    }
    while (Take('B')) {
      if (!ReadSourceName(source)) return false;
    }
    return true;
  }
  if (Take("Ul")) return SkipTypesToEnd(depth + 1) && ReadSequence();  // {lambda(…)#n}
  if (Take("Ut")) return ReadSequence();
  if ((Peek() == 'C' || Peek() == 'D') && IsDigit(Peek(1))) {
    at_ += 2;
    return true;
  }
  if (IsLower(Peek()) && IsLower(Peek(1))) {  // an operator: cl is ()
    at_ += 2;
    return true;
  }
  return false;
}

// N [qualifiers] (scope [arguments])* E
bool Reader::ReadNested(Name& name, int depth) {
  while (Peek() == 'K' || Peek() == 'V' || Peek() == 'r' || Peek() == 'R' || Peek() == 'O') ++at_;
  name.nested = true;
  while (!Take('E')) {
    if (Peek() == 'I') {
      if (!ReadOwnArguments(name, depth)) return false;
    } else if (Peek() == 'S') {
      if (Peek(1) == 't') name.scopes.emplace_back("std");
      if (!ReadSubstitution()) return false;
    } else if (Take('T')) {
      if (!ReadSequence()) return false;
    } else if (!ReadUnqualified(name, depth)) {
      return false;
    }
  }
  return true;
}

// Z encoding E entity: something inside a function. The function is what gives it its name.
bool Reader::ReadLocal(Name& name, int depth) {
  if (!ReadEncodingToEnd(name, depth + 1)) return false;
  name.nested = true;
  Name entity;
  if (!Take('s') && !ReadName(entity, depth + 1)) return false;
  if (Take('_')) {  // discriminator
    if (Take('_')) return ReadSequence();
    if (!IsDigit(Peek())) return false;
    ++at_;
  }
  return true;
}

bool Reader::ReadName(Name& name, int depth) {
  if (depth > kMaxDepth) return false;
  if (Take('N')) return ReadNested(name, depth);
  if (Take('Z')) return ReadLocal(name, depth);
  if (Peek() == 'S') {
    name.nested = true;
    const bool std_scope = Peek(1) == 't';
    if (!ReadSubstitution()) return false;
    if (std_scope) {
      name.scopes.emplace_back("std");
      if (!ReadUnqualified(name, depth)) return false;
    }
  } else if (!ReadUnqualified(name, depth)) {
    return false;
  }
  return Peek() != 'I' || ReadOwnArguments(name, depth);
}

bool Reader::ReadEncodingToEnd(Name& name, int depth) {
  return depth <= kMaxDepth && ReadName(name, depth) && SkipTypesToEnd(depth);
}

bool Reader::SkipTypesToEnd(int depth) {
  while (!Take('E')) {
    std::string text;
    Name name;
    if (!ReadType(text, name, depth + 1)) return false;
  }
  return true;
}

// Types that begin with D: DF16b, DF16_, Dv4_f, Dn, Dp….
bool Reader::ReadD(std::string& text, Name& name, int depth) {
  if (Take("F16b")) {
    text = "__bf16";
    return true;
  }
  if (Take("F16_")) {
    text = "_Float16";
    return true;
  }
  if (Take('v')) {
    while (IsDigit(Peek())) ++at_;
    return Take('_') && ReadType(text, name, depth + 1);
  }
  if (Take('p')) return ReadType(text, name, depth + 1);
  if (Peek() == 't' || Peek() == 'T' || !IsLower(Peek())) return false;  // decltype(expression)
  ++at_;
  return true;
}

bool Reader::ReadType(std::string& text, Name& name, int depth) {
  if (depth > kMaxDepth) return false;
  text = "?";
  const char c = Peek();
  if (const std::size_t letter = kLetters.find(c); c != '\0' && letter != std::string_view::npos) {
    ++at_;
    text = kBuiltins[letter];
    return true;
  }
  if (IsDigit(c) || c == 'N' || c == 'S' || c == 'Z') {
    if (!ReadName(name, depth + 1)) return false;
    if (!name.scopes.empty() && !name.templated) text = name.scopes.back();
    return true;
  }
  Name inner;  // what a pointer points to is no name of the argument
  std::string ignored;
  if (c == 'P' || c == 'R' || c == 'O' || c == 'K' || c == 'V' || c == 'r') {
    ++at_;
    return ReadType(ignored, inner, depth + 1);
  }
  if (Take('D')) return ReadD(text, inner, depth);
  if (Take('T')) return ReadSequence() && (Peek() != 'I' || ReadOwnArguments(inner, depth));
  if (Take('F')) {
    Take('Y');
    return SkipTypesToEnd(depth + 1);
  }
  if (Take('M')) return ReadType(ignored, inner, depth + 1) && ReadType(ignored, inner, depth + 1);
  if (Take('A')) {
    while (IsDigit(Peek())) ++at_;
    return Take('_') && ReadType(ignored, inner, depth + 1);
  }
  if (Take('J')) return SkipTypesToEnd(depth + 1);
  return false;
}

// L type value E, for example L9ggml_type12E, Lb1E, Lin1E, or L_Z encoding E.
bool Reader::ReadLiteral(std::string& text, KernelName& into, Name& name, int depth) {
  if (Take("_Z")) {
    text = "?";
    return ReadEncodingToEnd(name, depth + 1);
  }
  std::string type;
  Name enumeration;
  if (!ReadType(type, enumeration, depth + 1)) return false;
  std::string value;
  if (Take('n')) value = "-";
  while (Peek() != 'E' && Peek() != '\0') value += text_[at_++];
  if (!Take('E')) return false;
  text = type == "?" ? type : EnumArgument(type, value, into);  // LS0_2E: of some type named before
  return true;
}

bool Reader::ReadArgument(std::string& text, KernelName& into, Name& name, int depth) {
  if (depth > kMaxDepth) return false;
  if (Take('L')) return ReadLiteral(text, into, name, depth);
  if (Take('X')) {  // an expression; of these only &function is understood
    return Take("ad") && Take('L') && ReadLiteral(text, into, name, depth) && Take('E');
  }
  return ReadType(text, name, depth);
}

// OperationOf is the KernelName::operation that an argument stands for, or empty.
std::string OperationOf(const Name& name, bool function) {
  if (name.scopes.empty() || IsElementType(name.scopes)) return {};
  const std::string_view own = name.scopes.back();
  if (IsWrapper(own)) return name.own.operation;
  const bool tells = function || name.nested || name.templated || own.starts_with("cutlass");
  return tells ? std::string(own) : std::string();
}

bool Reader::ReadArguments(KernelName& into, int depth) {
  if (depth > kMaxDepth || !Take('I')) return false;
  int packs = 0;  // J argument* E: a pack; its arguments count as the function's own
  while (true) {
    if (Take('J')) {
      ++packs;
      continue;
    }
    if (Take('E')) {
      if (packs-- == 0) return true;
      continue;
    }
    std::string text;
    Name name;
    const bool function = Peek() == 'X' || (Peek() == 'L' && Peek(1) == '_');
    const bool whole = ReadArgument(text, into, name, depth + 1);
    if (whole) into.arguments.push_back(std::move(text));
    if (into.operation.empty()) into.operation = OperationOf(name, function);
    if (!whole) return false;
  }
}

}  // namespace

std::optional<KernelName> ParseMangledName(std::string_view text) {
  if (!text.starts_with("_Z")) return std::nullopt;
  Name name;
  // What was read before something that is not understood, or before a torn end, still counts.
  static_cast<void>(Reader(text, 2).ReadName(name, 0));
  if (name.scopes.empty()) return std::nullopt;
  KernelName result = std::move(name.own);
  result.base = JoinScopes(name.scopes);
  return result;
}

}  // namespace culprit::analysis
