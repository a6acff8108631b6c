#pragma once

#include <string>

#include "collect/collector.h"
#include "collect/rocprofv3/pass.h"
#include "collect/rocprofv3/rows.h"
#include "collect/rocprofv3/verdict.h"

namespace culprit::collect::rocprofv3 {

// Verify reads a trace file, *_results.db or a CSV, and tells whether the request is whole in what
// the pass recorded. It takes no lock and writes nothing beside the file; one with a hot journal is
// read as a rolled-back copy, so that the verdict can say what is left, and is never complete.
Verdict Verify(const std::string& path, const RequestTimes& request, const Pass& pass = {});

// Judge says whether they are all there and reach over the request. Ids of dispatches whose
// counters were asked for need not follow each other.
Verdict Judge(const Rows& rows, const RequestTimes& request, const Pass& pass = {});

}  // namespace culprit::collect::rocprofv3
