#pragma once

#include <cstdint>
#include <map>

namespace culprit::trace {

// DispatchIds is the set of dispatch ids seen in one process's records. Profilers number dispatches
// without gaps, so it is kept as ranges: one for a whole trace, in whatever order ids come.
class DispatchIds {
 public:
  // Add returns false when the id was there already. Ids are not negative.
  bool Add(std::int64_t id);
  // missing counts the ids that lie between the smallest and the largest and were not seen.
  [[nodiscard]] std::int64_t missing() const;

 private:
  std::map<std::int64_t, std::int64_t> ranges_;  // first id to last id; never adjacent
};

}  // namespace culprit::trace
