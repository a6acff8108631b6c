#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "base/result.h"
#include "sys/sqlite.h"
#include "trace/builder.h"
#include "trace/reader.h"
#include "trace/rocpd/lookups.h"
#include "trace/rocpd/schema.h"

namespace culprit::trace::rocpd {

// Processes are the pids met: those whose dispatches were read and those left out on request.
struct Processes {
  std::set<std::int64_t> read, left_out;
};

// DispatchRead says how reading a dispatch table went.
struct DispatchRead {
  std::int64_t dispatches = 0;  // added to the trace
  std::string damage;           // why it ended early; empty when it did not
};

// ReadDispatches adds the dispatches of one id space to the builder, in file order: the result is
// the same whatever the number of threads. It checks ids, kernels and agents, and leaves out
// records that are there twice. Fails with kDamagedTrace when nothing of the table can be read.
base::Result<DispatchRead> ReadDispatches(const sys::SqliteDatabase& database, const IdSpace& space,
                                          const Lookups& lookups, const ReadOptions& options,
                                          Processes& processes, TraceBuilder& builder);

}  // namespace culprit::trace::rocpd
