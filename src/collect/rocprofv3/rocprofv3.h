#pragma once

#include <memory>

#include "collect/collector.h"
#include "collect/rocprofv3/finish.h"
#include "collect/rocprofv3/pass.h"
#include "sys/process.h"

namespace culprit::collect::rocprofv3 {

// MakeCollector traces kernels of AMD GPUs with ROCm's rocprofv3, or takes counters of them, as the
// pass says. The tool is looked for in the given environment. Traces and spill files go into
// folders of their own below the trial's.
//
// doc/collect-rocprofv3.md tells how the trace is brought out, and what can go wrong.
std::unique_ptr<Collector> MakeCollector(Pass pass = {},
                                         sys::Environment environment = sys::OwnEnvironment(),
                                         Limits limits = {});

}  // namespace culprit::collect::rocprofv3
