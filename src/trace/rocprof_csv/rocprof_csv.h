#pragma once

#include "trace/reader.h"

namespace culprit::trace::rocprof_csv {

// Sniff looks at the header. It says Mine to kernel traces, and Refused to the other tables that
// lie in the same folder or look alike, each with the sentence which file to give instead.
Verdict Sniff(const sys::Source& source);

// Read takes one pass over the file. Stamps of rocprofv3 are CLOCK_BOOTTIME; of which clock those
// of rocprof v1 are is not written down anywhere, so it stays unknown.
base::Result<Trace> Read(const sys::Source& source, const ReadOptions& options);

inline constexpr Reader kReader = {
    .name = "rocprof CSV",
    .versions = "rocprofv3 of ROCm 6.2 to 7.x, rocpd convert, rocprof v1",
    .sniff = Sniff,
    .read = Read,
};

}  // namespace culprit::trace::rocprof_csv
