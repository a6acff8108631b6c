#include "trace/dispatch_ids.h"

#include <iterator>

namespace culprit::trace {

bool DispatchIds::Add(std::int64_t id) {
  const auto next = ranges_.upper_bound(id);
  const auto before = next == ranges_.begin() ? ranges_.end() : std::prev(next);
  if (before != ranges_.end() && id <= before->second) return false;
  const bool joins_before = before != ranges_.end() && before->second == id - 1;
  const bool joins_next = next != ranges_.end() && next->first - 1 == id;
  const std::int64_t last = joins_next ? next->second : id;
  if (joins_next) ranges_.erase(next);
  if (joins_before) {
    before->second = last;
  } else {
    ranges_.emplace(id, last);
  }
  return true;
}

std::int64_t DispatchIds::missing() const {
  std::int64_t missing = 0;
  if (ranges_.empty()) return missing;
  for (auto a = ranges_.begin(), b = std::next(a); b != ranges_.end(); a = b++) {
    missing += b->first - a->second - 1;
  }
  return missing;
}

}  // namespace culprit::trace
