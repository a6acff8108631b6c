#pragma once

#include <string>

namespace culprit::gpu {

// Places is where this machine keeps what we look at; a test gives folders of its own.
struct Places {
  std::string sys = "/sys";
  std::string proc = "/proc";
  std::string nvml = "libnvidia-ml.so.1";  // as dlopen takes it
};

}  // namespace culprit::gpu
