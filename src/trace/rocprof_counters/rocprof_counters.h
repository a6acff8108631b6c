#pragma once

#include <optional>

#include "base/result.h"
#include "sys/source.h"
#include "trace/counter_set.h"

namespace culprit::trace::rocprof_counters {

// Read takes one pass over a *_counter_collection.csv of rocprofv3: long form, one row for each
// dispatch and counter. A dispatch is counted once, by its id within its process and agent; with a
// window, only when it begins there.
//
// Rows that make no sense, negative values among them, are counted and left out; a value that is no
// number (a ratio of nothing) leaves its launch without one. Fails with kNotATrace when the file is
// no counter collection or holds no dispatch, with kDamagedTrace when columns are missing, with
// kNoWindow when no dispatch lies in the window, and as the source does.
// Format: doc/formats/rocprof_counters.md.
base::Result<CounterSet> Read(const sys::Source& source,
                              const std::optional<CountWindow>& window = std::nullopt);

}  // namespace culprit::trace::rocprof_counters
