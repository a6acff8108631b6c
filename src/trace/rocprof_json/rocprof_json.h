// Reader of the JSON that rocprofv3 --output-format json writes, from ROCm 6.2 on.
//
// One document {"rocprofiler-sdk-tool": [process, …]}. It is read as a stream, its keys in any
// order; records wait in 40 bytes each until their process ends. Stamps are CLOCK_BOOTTIME ns, grid
// sizes are counted in work-items. Source: doc/formats/rocprof_json.md.
#pragma once

#include "trace/reader.h"

namespace culprit::trace::rocprof_json {

// Sniff says Mine to a document with that key.
Verdict Sniff(const sys::Source& source);
// Read fails with kUnsupportedTrace when counters were collected instead, with kUsage when the
// process asked for is not there.
base::Result<Trace> Read(const sys::Source& source, const ReadOptions& options);

inline constexpr Reader kReader = {
    .name = "rocprofv3 JSON",
    .versions = "ROCm 6.2 to 7.x",
    .sniff = Sniff,
    .read = Read,
};

}  // namespace culprit::trace::rocprof_json
