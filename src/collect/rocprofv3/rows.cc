#include "collect/rocprofv3/rows.h"

#include <algorithm>

namespace culprit::collect::rocprofv3 {

using base::HostTime;
using base::Nanos;

void RowCount::Add(std::int64_t id, std::int64_t start, std::int64_t end) {
  ids_.push_back(std::max<std::int64_t>(id, 0));
  if (start > 0 && (begin_ == 0 || start < begin_)) begin_ = start;
  end_ = std::max(end_, end);
}

Rows RowCount::Finish() {
  Rows rows{.dispatches = ids_.size()};
  if (ids_.empty()) return rows;
  std::sort(ids_.begin(), ids_.end());
  rows.first_id = ids_.front();
  rows.last_id = ids_.back();
  rows.ids = static_cast<std::uint64_t>(std::unique(ids_.begin(), ids_.end()) - ids_.begin());
  rows.begin = HostTime(Nanos(begin_));
  rows.end = HostTime(Nanos(end_));
  return rows;
}

}  // namespace culprit::collect::rocprofv3
