#pragma once

#include "trace/reader.h"

namespace culprit::trace::nsys {

// Sniff says Mine to a database with the tables that nsys export writes, kernels or not.
Verdict Sniff(const sys::Source& source);

// Read takes kernels, copies, fills and CUDA graph launches as dispatches, and runtime and driver
// calls as host calls. Stamps are nanoseconds since the session began; the UTC instant of that
// (TARGET_INFO_SESSION_START_TIME) is not exact enough to map a client's times by it. Fails with
// kUnsupportedTrace when graphs were recorded without the kernels inside them.
base::Result<Trace> Read(const sys::Source& source, const ReadOptions& options);

inline constexpr Reader kReader = {
    .name = "nsys SQLite",
    .versions = "Nsight Systems exports by their columns; tested with one of 2023",
    .sniff = Sniff,
    .read = Read,
};

}  // namespace culprit::trace::nsys
