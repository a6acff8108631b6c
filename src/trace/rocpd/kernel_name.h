#pragma once

#include <string>
#include <string_view>

namespace culprit::trace::rocpd {

// KernelName chooses the fullest name that a row of rocpd_info_kernel_symbol has: the demangled
// name in its extdata (JSON), else kernel_name demangled, else display_name, which the profiler may
// have shortened on request, else kernel_name. May end in ".kd"; hostile text. "" when there is
// none.
std::string KernelName(std::string_view extdata, std::string_view kernel_name,
                       std::string_view display_name);

}  // namespace culprit::trace::rocpd
