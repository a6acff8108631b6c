// block_means: does the mean of one series of steps differ from that of another?
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "stats/interval.h"
#include "stats/warning.h"

namespace culprit::stats {

// DifferenceOfMeans is mean(b) - mean(a) in the unit of the series. interval and p are absent when
// a series is shorter than 8 steps. p is two-sided and belongs to this row alone: give the p-values
// of a whole table to HolmAdjust.
struct DifferenceOfMeans {
  double estimate;
  std::optional<Interval> interval;
  std::optional<double> p;
  std::vector<Warning> warnings;
};

// CompareSeries compares what one kernel cost in each step of two decode windows.
//
// a and b hold one value a step, in order of time, at least one each, of one unit: scale both
// beforehand to compare costs per token. A kernel that exists on one side only is a series of zeros
// on the other. resolution is one tick of the clock in that unit: an interval is never narrower
// than rounding to ticks allows, so that two constant series do not get an error of zero.
// CompareSeries(b, a) is the exact negation of CompareSeries(a, b).
//
// Steps are not independent: on an H200, kernel times were correlated by 0.3 to 0.9 from step to
// step and still by 0.3 over 32 steps, as clocks and host wander. And they have a trend: attention
// costs more the longer the context. So each series is cut into 8 blocks of equal length, the k-th
// block of b is paired with the k-th of a (a trend that both have cancels; two windows of different
// step counts over the same tokens pair by depth), and the 8 differences of block means get a
// t interval with 7 degrees of freedom. Blocks of 1/8 of the window are still a little correlated,
// which would make the interval too narrow. 24 blocks show by how much: independent steps give
// the same standard error from 8 blocks and from 24, correlated ones a smaller one from 24.
//   se² = max(v8, 3 v8 - 2 v24),  vK = (variance of the K differences of block means) / K
// is a lugsail estimator (Vats and Flegal, Biometrika 2022; r = 3, c = 2/3) that never corrects
// downwards.
//
// What is tested is the noise inside these two windows. Another start of the server may differ by
// more; only repeated runs can tell.
//
// Simulated, 20,000 pairs of windows each (block_means_simulation_test.cc; CULPRIT_LONG_TESTS=1
// prints it). wrong: intervals that exclude zero at no effect; sees: those that exclude zero when b
// is dearer by twice the noise of one step (2 sd) or by 4 standard errors of the difference (4 se);
// warned: those that carry kSlowNoise.
//   noise of a step     steps of a, b   wrong   sees 2 sd   sees 4 se   warned
//   independent            96     96    4.6 %     100 %        85 %       2 %
//   independent           511    511    4.7 %     100 %        85 %       2 %
//   AR(1) 0.8              96     96    5.4 %      93 %        87 %      41 %
//   AR(1) 0.8             511    511    5.0 %     100 %        84 %       4 %
//   AR(1) 0.8             511    189    5.3 %     100 %        84 %      11 %
//   common trend           96     96    4.6 %     100 %        85 %       2 %
//   common trend          511    189    5.0 %     100 %        85 %       2 %
//   1 % spikes x 5         96     96    1.4 %     100 %        88 %       2 %
//   1 % spikes x 5        511    511    4.3 %     100 %        85 %       1 %
//   wandering clocks       96     96   27.3 %      88 %        99 %      57 %
//   wandering clocks      511    511    5.9 %      99 %        90 %      53 %
// Wandering clocks have an AR(1) of 0.97 in half of their variance: 96 steps hold one and a half
// of its swings, and no method sees from inside such a window how far the mean would move. With 8
// blocks and no correction AR(1) 0.8 is wrong in 10 % of windows of 96 steps, with 16 blocks in
// 18 %. The correction widens the interval of independent steps by 12 %.
//
// Note: a Welch test on each side's own blocks was rejected. It has up to 14 degrees of freedom
// where pairs have 7, but takes the common trend for noise.
DifferenceOfMeans CompareSeries(std::span<const double> a, std::span<const double> b,
                                double resolution);

// BlockMeans cuts a series into count blocks whose lengths differ by at most 1 and returns their
// means; count is at least 1 and at most the length of the series.
std::vector<double> BlockMeans(std::span<const double> series, std::size_t count);

}  // namespace culprit::stats
