#include "trace/rocpd/kernel_name.h"

#include "base/json.h"
#include "trace/demangle.h"

namespace culprit::trace::rocpd {
namespace {

// A name that is not mangled is whole.
bool IsWhole(std::string_view name) { return !name.empty() && !name.starts_with("_Z"); }

// {"kernel_name":"…","demangled_kernel_name":"void f<int>(float*) [clone .kd]", …}
std::string FromExtdata(std::string_view extdata) {
  if (extdata.find("demangled_kernel_name") == std::string_view::npos) return "";
  const auto json = base::ParseJson(extdata);
  if (!json || !json->is_object()) return "";
  const auto it = json->find("demangled_kernel_name");
  return it != json->end() && it->is_string() ? it->get<std::string>() : "";
}

}  // namespace

std::string KernelName(std::string_view extdata, std::string_view kernel_name,
                       std::string_view display_name) {
  std::string name = FromExtdata(extdata);
  if (!IsWhole(name)) name = Demangled(kernel_name);
  if (!IsWhole(name)) name = display_name.empty() ? kernel_name : display_name;
  return name;
}

}  // namespace culprit::trace::rocpd
