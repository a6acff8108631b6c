#pragma once

#include <string>

#include "collect/collector.h"
#include "collect/rocprofv3/rows.h"
#include "collect/rocprofv3/verdict.h"

namespace culprit::collect::rocprofv3 {

// Verify reads a trace file, *_results.db or *_kernel_trace.csv, and tells whether the request is
// whole in it. It takes no lock and writes nothing beside the file; one with a hot journal is read
// as a rolled-back copy, so that the verdict can say what is left, and is never complete.
Verdict Verify(const std::string& path, const RequestTimes& request);

// Judge says whether they are all there and reach over the request.
Verdict Judge(const Rows& rows, const RequestTimes& request);

}  // namespace culprit::collect::rocprofv3
