#pragma once

#include "base/check.h"
#include "trace/reader.h"

namespace culprit::trace {

// ReadAndCheck gives a reader a source. It may say no to anything; a trace that it makes keeps the
// promises of Trace.
inline void ReadAndCheck(const Reader& reader, const sys::Source& source,
                         const ReadOptions& options = {}) {
  static_cast<void>(reader.sniff(source));
  const auto trace = reader.read(source, options);
  for (std::size_t i = 0; trace && i < trace->size(); ++i) {
    CULPRIT_CHECK(trace->end[i] >= trace->start[i]);
    CULPRIT_CHECK(i == 0 || trace->start[i] >= trace->start[i - 1]);
    CULPRIT_CHECK(trace->kernel[i].index() < trace->kernels.size());
    CULPRIT_CHECK(trace->geometry[i].index() < trace->geometries.size());
    CULPRIT_CHECK(trace->lane[i].index() < trace->lanes.size());
    CULPRIT_CHECK(trace->layer.empty() || trace->layer.size() == trace->size());
  }
}

}  // namespace culprit::trace
