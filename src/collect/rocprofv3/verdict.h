#pragma once

#include <cstdint>
#include <set>
#include <string>

namespace culprit::collect::rocprofv3 {

// Verdict is what reading a trace file showed.
struct Verdict {
  enum class Kind {
    kComplete,
    kAbsent,      // there is no file of this process
    kUnfinished,  // its journal is there
    kBroken,      // it cannot be read, or contradicts itself
    kEmpty,       // there is no dispatch in it
    kGaps,        // dispatches are missing
    kUncovered,   // dispatches do not reach over the request
  };
  Kind kind = Kind::kAbsent;
  std::string why;  // a clause: "its last row is cut"; empty when complete
  std::uint64_t dispatches = 0;
  std::set<std::string> counters = {};  // that it has values of

  [[nodiscard]] bool complete() const { return kind == Kind::kComplete; }
  bool operator==(const Verdict&) const = default;
};

}  // namespace culprit::collect::rocprofv3
