#pragma once

#include <span>
#include <vector>

namespace culprit::stats {

// HolmAdjust returns the p-values of one family of tests (the rows of one table), each adjusted so
// that calling every row below 0.05 real is wrong anywhere in the table in at most 5 % of tables.
//
// In the order of the input; each lies between its p and 1. May be empty.
// Source: Holm, A Simple Sequentially Rejective Multiple Test Procedure, 1979.
std::vector<double> HolmAdjust(std::span<const double> p);

}  // namespace culprit::stats
