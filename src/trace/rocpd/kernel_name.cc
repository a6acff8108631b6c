#include "trace/rocpd/kernel_name.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

#include "base/json.h"

namespace culprit::trace::rocpd {
namespace {

// Each reference to an earlier part ("S1_", "T_") may repeat all that the name has said so far, so
// a short name can stand for an endless one. With this many the worst is some hundred kilobytes.
constexpr std::size_t kMostReferences = 32;
constexpr std::size_t kLongestMangled = 64 * 1024;
// Demangled names are two to four times as long as mangled ones.
constexpr std::size_t kMostExpansion = 32;

std::size_t CountReferences(std::string_view mangled) {
  std::size_t references = 0;
  for (std::size_t i = 0; i + 1 < mangled.size(); ++i) {
    const char next = mangled[i + 1];
    const bool refers = (next >= '0' && next <= '9') || (next >= 'A' && next <= 'Z') || next == '_';
    references += (mangled[i] == 'S' || mangled[i] == 'T') && refers;
  }
  return references;
}

// {"kernel_name":"…","demangled_kernel_name":"void f<int>(float*) [clone .kd]", …}
std::string FromExtdata(std::string_view extdata) {
  if (extdata.find("demangled_kernel_name") == std::string_view::npos) return "";
  const auto json = base::ParseJson(extdata);
  if (!json || !json->is_object()) return "";
  const auto it = json->find("demangled_kernel_name");
  return it != json->end() && it->is_string() ? it->get<std::string>() : "";
}

}  // namespace

std::string Demangle(std::string_view mangled) {
  if (mangled.ends_with(".kd")) mangled.remove_suffix(3);
  if (!mangled.starts_with("_Z") || mangled.size() > kLongestMangled ||
      CountReferences(mangled) > kMostReferences)
    return "";
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(std::string(mangled).c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0 || name == nullptr) return "";
  std::string text = name.get();
  return text.size() > kMostExpansion * mangled.size() ? "" : text;
}

std::string KernelName(std::string_view extdata, std::string_view kernel_name,
                       std::string_view display_name) {
  if (std::string name = FromExtdata(extdata); !name.empty() && !name.starts_with("_Z"))
    return name;
  if (std::string name = Demangle(kernel_name); !name.empty()) return name;
  // A name that is not mangled is whole; display_name may be shortened.
  if (!kernel_name.empty() && !kernel_name.starts_with("_Z")) return std::string(kernel_name);
  return std::string(display_name.empty() ? kernel_name : display_name);
}

}  // namespace culprit::trace::rocpd
