#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace culprit::stats {

// Design says, before the first run, after how many pairs the result may be looked at and how wide
// its interval is then. Between looks nothing is decided.
//
// A fixed design has one look, at 95 %. A sequential one looks after 4, 6, 8 and 10 pairs and stops
// at the first look that decides. Four looks at 95 % each would be wrong in 12 % of experiments
// without a change; at 98.2 % each (|t| above 4.72, 3.46, 3.07, 2.89) it is 5 % for all of them.
// The same level bounds each side of the equivalence test: 5 % at one look, 1.8 % at each of four,
// which is 4.5 % for all.
// Source: Pocock, Group Sequential Methods in the Design and Analysis of Clinical Trials, 1977; the
// level for t tests as few as these by simulation (doc/measurements.md).
class Design {
 public:
  // Sequential looks no further than after cap pairs, 3 or more. A cap of 3 leaves one look, with
  // the level that a first look at 3 pairs would have (|t| above 9.03).
  static Design Sequential(std::size_t cap = 10);
  // Fixed looks once, after pairs pairs, 1 or more.
  static Design Fixed(std::size_t pairs);

  [[nodiscard]] const std::vector<std::size_t>& looks() const { return looks_; }  // rising
  [[nodiscard]] std::size_t cap() const { return looks_.back(); }
  // Beyond the last look nothing is left to wait for.
  [[nodiscard]] bool IsLook(std::size_t pairs) const;
  // level is the chance, split over both sides, that an interval misses the truth.
  [[nodiscard]] double level() const { return level_; }

 private:
  Design(std::vector<std::size_t> looks, double level) : looks_(std::move(looks)), level_(level) {}

  std::vector<std::size_t> looks_;
  double level_;
};

}  // namespace culprit::stats
