#pragma once

#include "analysis/analyze.h"
#include "base/result.h"
#include "base/units.h"

namespace culprit::analysis {

// AnalyzeDifference takes one token's decode from two traces of the same request that differ only
// in how many tokens were generated: start, warm-up and prefill are in both and cancel, and what
// is left over is `more` tokens of decode. It needs no window, so it serves where nothing says when
// the request ran, and it checks the other ways.
//
// longer and shorter are analyses of whole traces. Kernels pair by category and identity; a kernel
// may come out below zero, by the noise of what should have cancelled. Σ kernels + idle = the
// difference of the two lengths, exactly, but idle holds the difference of two starts of the server
// as well and says little. There are no steps to see: the proof asks instead that the launches left
// over are the same for every token.
//
// Fails with kUsage when more is below 1 and kMismatch when the longer trace is not the busier one.
// Source: the hand method of mudler/vllm.cpp #1863 (36 tokens minus 4, divided by 32).
base::Result<Analysis> AnalyzeDifference(const Analysis& longer, const Analysis& shorter,
                                         base::Tokens more);

}  // namespace culprit::analysis
