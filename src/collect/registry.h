#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "collect/collector.h"

namespace culprit::collect {

inline constexpr std::string_view kRocprofv3 = "rocprofv3";  // kernels, on AMD GPUs
inline constexpr std::string_view kGgmlOps = "ggml-ops";     // ops, on any device

// CollectorNames are the collectors that there are.
std::vector<std::string_view> CollectorNames();

// MakeCollector makes a new one, for one trace. Fails with kUsage on a name that is none.
base::Result<std::unique_ptr<Collector>> MakeCollector(std::string_view name);

}  // namespace culprit::collect
