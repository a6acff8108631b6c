#include "gpu/vendor.h"

namespace culprit::gpu {

std::string_view Name(Vendor vendor) {
  switch (vendor) {
    case Vendor::kAmd:
      return "AMD";
    case Vendor::kNvidia:
      return "NVIDIA";
    case Vendor::kCpu:
      return "CPU";
  }
  return "";
}

}  // namespace culprit::gpu
