#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "collect/collector.h"

namespace culprit::collect {

inline constexpr std::string_view kRocprofv3 = "rocprofv3";  // kernels, on AMD GPUs
inline constexpr std::string_view kGgmlOps = "ggml-ops";     // ops, on any device

// kCounters is what takes counters: rocprofv3 with another flag, and no collector of traces.
inline constexpr std::string_view kCounters = "rocprofv3 --pmc";

// CollectorNames are the collectors that there are.
std::vector<std::string_view> CollectorNames();

// MakeCollector makes a new one, for one trace. Fails with kUsage on a name that is none.
base::Result<std::unique_ptr<Collector>> MakeCollector(std::string_view name);

// MakeCounterCollector makes one that counts, of each kernel, what these names say, at least one:
// one pass. Its result is no trace and has no times that mean anything.
std::unique_ptr<Collector> MakeCounterCollector(std::vector<std::string> counters);

}  // namespace culprit::collect
