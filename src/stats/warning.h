#pragma once

#include <string_view>

namespace culprit::stats {

// Warning says why a number is weak. Summaries and comparisons carry theirs, and every writer must
// print them.
enum class Warning {
  kNoSpread,    // one value or none: there is no standard deviation
  kNoInterval,  // a series is too short for an interval and a p-value
  kFewSteps,    // too few steps to see whether they are correlated
  kSlowNoise,   // the noise drifts over stretches as long as a block
  // of a controlled A/B
  kFewPairs,     // fewer than 4 pairs
  kDrift,        // cost rises or falls over the experiment
  kOrderEffect,  // who runs first matters
  kBlocked,      // all runs of one side came before those of the other
  kUnstable,     // the mean and the robust estimate contradict each other
};

// Describe returns a sentence without full stop.
std::string_view Describe(Warning warning);

}  // namespace culprit::stats
