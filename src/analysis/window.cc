#include "analysis/window.h"

#include <algorithm>

namespace culprit::analysis {

void SetDispatchRange(const trace::Trace& trace, Window& window) {
  const auto index_of = [&](base::TraceTime time) {
    return static_cast<std::size_t>(std::lower_bound(trace.start.begin(), trace.start.end(), time) -
                                    trace.start.begin());
  };
  window.last = index_of(window.end);
  window.first = index_of(window.begin);
  // A dispatch that started long before the window may still run inside it.
  for (std::size_t i = 0; i < window.first; ++i) {
    if (trace.end[i] > window.begin) {
      window.first = i;
      break;
    }
  }
}

}  // namespace culprit::analysis
