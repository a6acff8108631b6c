#pragma once

#include "sys/sqlite.h"
#include "trace/builder.h"
#include "trace/reader.h"
#include "trace/rocpd/lookups.h"
#include "trace/rocpd/row_reader.h"
#include "trace/rocpd/schema.h"

namespace culprit::trace::rocpd {

// What comes along with dispatches, where it was traced. Damage goes to rows.

// ReadCopies adds rocpd_memory_copy: each copy is a dispatch of kind kCopy, named as the profiler
// names it (MEMORY_COPY_HOST_TO_DEVICE), on its stream of the GPU that takes part in it.
void ReadCopies(RowReader& rows, const IdSpace& space, const Lookups& lookups,
                const ReadOptions& options, TraceBuilder& builder);

// ReadHostCalls adds the calls of the HIP and HSA API that can block or move data: waits, copies,
// fills, allocations, loading of code, graph launches. An API trace has several calls a dispatch
// (hipLaunchKernel, hipGetDevice, …): the rest is counted as skipped, and so is what comes after
// the first million, so that memory stays within 24 MB.
void ReadHostCalls(const sys::SqliteDatabase& database, RowReader& rows, const IdSpace& space,
                   const Lookups& lookups, const ReadOptions& options, TraceBuilder& builder);

// CheckGraphs counts graph launches of which no dispatch was recorded (schema 3.0.2 and later).
void CheckGraphs(RowReader& rows, const IdSpace& space, TraceBuilder& builder);

}  // namespace culprit::trace::rocpd
