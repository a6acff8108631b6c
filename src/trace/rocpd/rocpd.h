// rocpd: the SQLite databases that rocprofv3 (ROCm 7.0 and later) and rocprofiler-systems write.
//
// Read are the base tables, never the views: the `kernels` view joins on tables that other writers
// leave empty, and drops every dispatch without a match. Of the tables that hold the host's name,
// command lines and environment nothing but ids is read.
//
// Checks: the dispatch table is read from end to end, so damage in it is met. SQLite's own
// quick_check of a whole file reads every page once more, seconds for a real trace: it runs on the
// small tables always, and on everything once something is suspicious (a size that is not the
// header's, a journal, a page that cannot be read) or when ReadOptions.full_check asks for it.
//
// Stamps are CLOCK_BOOTTIME nanoseconds.
// Source: rocprofiler-sdk's schema files 3.0.0 to 3.0.5 and 4.0.0; doc/formats/rocpd.md.
#pragma once

#include "trace/reader.h"

namespace culprit::trace::rocpd {

// Sniff says Mine to a database with a rocpd dispatch table, and refuses two other formats of the
// same family by name: rocmProfileData, which calls itself rocpd as well, and rocprof v1.
Verdict Sniff(const sys::Source& source);

// Read makes the trace. Fails with kDamagedTrace, kUnreadable, kNotATrace (no dispatch) or kUsage
// (a process that the file does not have).
base::Result<Trace> Read(const sys::Source& source, const ReadOptions& options);

inline constexpr Reader kReader = {
    .name = "rocpd",
    .versions = "schema 3.0.0 to 3.0.5, 4.0 and 4.1",
    .sniff = Sniff,
    .read = Read,
};

}  // namespace culprit::trace::rocpd
