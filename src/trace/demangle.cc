#include "trace/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace culprit::trace {
namespace {

// Each back reference ("S1_", "T_") may double what came before: 200 hostile bytes become 30 MB. Of
// 11,868 real kernel names 8 have more than 24; 24 keep the worst case at 300 KB and a millisecond.
constexpr int kMaxBackReferences = 24;
constexpr std::size_t kMaxBytes = std::size_t{64} * 1024;

int CountBackReferences(std::string_view name) {
  int count = 0;
  bool open = false;  // behind an S or T, only digits and capitals so far
  for (const char c : name) {
    count += open && c == '_';
    open = c == 'S' || c == 'T' || (open && ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z')));
  }
  return count;
}

}  // namespace

std::string Demangled(std::string_view name) {
  std::string_view mangled = name;
  if (mangled.ends_with(".kd")) mangled.remove_suffix(3);
  const bool plausible = mangled.starts_with("_Z") && mangled.size() <= kMaxBytes &&
                         mangled.find(char{0}) == std::string_view::npos &&
                         CountBackReferences(mangled) <= kMaxBackReferences;
  if (!plausible) return std::string(name);
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(std::string(mangled).c_str(), nullptr, nullptr, &status), &std::free);
  if (status != 0 || text == nullptr) return std::string(name);
  std::string demangled = text.get();
  return demangled.size() <= kMaxBytes ? demangled : std::string(name);
}

std::string_view WithoutSuffixes(std::string_view name) {
  for (const std::string_view suffix : {" [clone .kd]", " (.kd)", ".kd"}) {
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  }
  return name;
}

}  // namespace culprit::trace
