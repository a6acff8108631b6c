#pragma once

#include <span>

#include "analysis/attribute.h"
#include "report/report.h"

namespace culprit::report {

// CompareReport tells what made each candidate slower or faster than the baseline, which is the
// first variant. attributions[i] compares variants[0] with variants[i + 1]. kernels: how many are
// listed under each category. incomplete: a proof failed and the reader asked for a look. Where a
// verdict on the times stands above it (judged), it begins with the culprit.
struct CompareWishes {
  std::size_t kernels = 3;
  bool incomplete = false;
  bool judged = false;
};
Report CompareReport(std::span<const analysis::Variant> variants,
                     std::span<const analysis::Attribution> attributions,
                     const CompareWishes& wishes);

}  // namespace culprit::report
