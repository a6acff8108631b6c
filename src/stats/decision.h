#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "base/units.h"
#include "stats/design.h"
#include "stats/paired.h"
#include "stats/sample.h"

namespace culprit::stats {

// The smallest changes that matter to a user, unless one says otherwise.
inline constexpr base::Fraction kDecodeMargin{0.01};
inline constexpr base::Fraction kPrefillMargin{0.02};

// NoiseFloor is the change that comparing a variant with itself shows by chance, from A/A sessions
// of one machine, model and workload: the 97.5 % quantile of the sizes of their log ratios, or the
// median half width of their intervals where that is larger. A session that happened to end near 0
// says little of the machine; its interval says how far from 0 it could have ended. Absent without
// sessions.
std::optional<base::Fraction> NoiseFloor(Sample log_ratios, Sample half_widths);

// Margin bounds the changes that do not matter: what the user said, or the noise floor where that
// is known and larger.
struct Margin {
  base::Fraction wanted = kDecodeMargin;
  std::optional<base::Fraction> floor;

  // log is the margin as a difference of ln cost; positive.
  [[nodiscard]] double log() const;
};

enum class Verdict { kRegression, kImprovement, kNoMeaningfulDifference, kInconclusive };
std::string_view Describe(Verdict verdict);  // "no meaningful difference"

// Judge gives the verdict. comparison has the level of the design.
//   regression                the interval lies above 0 and the change is at least the margin
//   improvement               the same, mirrored
//   no meaningful difference  both one-sided tests hold at the design's level: the interval of
//                             twice that level (90 % for a fixed design) lies within the margin.
//                             Never because a difference was not significant
//   inconclusive              anything else, also between looks, with fewer than 3 pairs, and where
//                             the mean and the robust estimate contradict each other
// With 3 pairs a difference is decided only when the noise floor is known, and with it exceeded: so
// few runs may all sit in one quiet stretch.
// Source: Schuirmann, A Comparison of the Two One-Sided Tests Procedure, 1987.
Verdict Judge(const Design& design, const PairedComparison& comparison, const Margin& margin);

// MorePairs says about how many pairs more an inconclusive comparison needs, were the change and
// the noise as they look now. Absent when over 100 would not do, because the change is about as
// large as the margin.
std::optional<std::size_t> MorePairs(const PairedComparison& comparison, const Margin& margin);

// NextStep is what a runner does after a pair.
enum class NextStep { kContinue, kStopForDifference, kStopForEquivalence, kCapReached };
NextStep Next(const Design& design, const PairedComparison& comparison, const Margin& margin);

}  // namespace culprit::stats
