#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiment/residue.h"
#include "experiment/spec.h"
#include "experiment/trial_record.h"
#include "stats/decision.h"
#include "stats/design.h"
#include "stats/paired.h"

namespace culprit::experiment {

// Metric is what a request is judged by. The two have verdicts of their own and are never averaged.
enum class Metric { kDecode, kPrefill };
std::string_view Name(Metric metric);  // "decode", "prefill"

// CostOf is what one token costs: predicted_time / (predicted - 1), or prompt_time / prompt. Absent
// when the trial has no such timings.
std::optional<base::PerToken> CostOf(const TrialRecord& trial, Metric metric);

// Judgement is what the pairs of one candidate say about one metric.
//
// comparison is absent without a pair; its costs are milliseconds per token. more_pairs is an
// estimate for an inconclusive verdict, absent when no reasonable number would do.
struct Judgement {
  Metric metric = Metric::kDecode;
  std::vector<stats::Pair> pairs;
  std::optional<stats::PairedComparison> comparison;
  stats::Margin margin;
  stats::Verdict verdict = stats::Verdict::kInconclusive;
  std::optional<std::size_t> more_pairs;
};

// VariantSummary is a variant's row: medians over its valid trials in complete pairs, never the
// best of them. What no trial has is absent. The second arm of an A/A is labelled "f16 (again)".
struct VariantSummary {
  std::string label;
  std::size_t runs = 0;
  std::optional<base::PerToken> decode, prefill;  // medians
  std::optional<base::Fraction> acceptance;       // median
  std::optional<std::string> kv_cache_mib;
  std::optional<double> core_clock_mhz;  // median of the device's means during decode
};

// CandidateResult compares one variant with the baseline.
//
// differences is the residue: what differs between the two servers. same_objects: they run the same
// binary, libraries, arguments and environment, so that this is an A/A. client_disagrees counts
// trials whose own arrival times give a decode cost over 2 % from the server's.
struct CandidateResult {
  VariantSummary summary;
  Judgement decode, prefill;
  std::vector<FactDifference> differences;
  bool same_objects = false;
  bool same_text = true;  // the two generated the same text in every pair
};

// Evaluation is the answer of an experiment as far as it has got.
//
// unpaired counts valid trials whose pair is not complete for any candidate, so that they count for
// nothing. disturbed counts valid trials during whose decode other programs used more than a
// quarter of a core of the CPU that was measured. finished: the design asks for no more pairs.
// ended_by_void: the last trial is void, and so nothing came after it: running it again would not
// have helped, or had been tried too often.
struct Evaluation {
  VariantSummary baseline;
  std::vector<CandidateResult> candidates;
  struct VoidTrial {
    int trial;
    std::string variant;
    std::vector<Objection> objections;
  };
  std::vector<VoidTrial> voided;
  std::size_t client_disagrees = 0;
  std::size_t disturbed = 0;
  std::size_t unpaired = 0;
  bool finished = false;
  bool ended_by_void = false;

  // compared tells whether there is a complete pair.
  [[nodiscard]] bool compared() const;
};

// ArmCount is the number of arms of a pair: one a variant, two in an A/A. ArmOf is the one that a
// trial belongs to, 0 for the baseline; absent for a variant that the experiment does not know.
std::size_t ArmCount(const Spec& spec);
std::optional<std::size_t> ArmOf(const Spec& spec, const TrialRecord& trial);

// VariantOf is what runs in an arm, LabelOf what the arm is called: an A/A has "f16 (again)".
const Variant& VariantOf(const Spec& spec, std::size_t arm);
std::string LabelOf(const Spec& spec, std::size_t arm);

// CountedTrials are the trials of an arm that its figures are made of: the valid ones in complete
// pairs, in the order of the pairs.
std::vector<const TrialRecord*> CountedTrials(const Spec& spec, std::span<const TrialRecord> trials,
                                              std::size_t arm);

// DesignOf is the statistical design that a spec asks for.
stats::Design DesignOf(const Design& design);

// Evaluate judges complete pairs: those in which every variant has a valid trial; of a pair that
// was run again only the last run counts. floor is the machine's A/A floor for decode and prefill.
struct NoiseFloors {
  std::optional<base::Fraction> decode, prefill;
};
Evaluation Evaluate(const Spec& spec, std::span<const TrialRecord> trials,
                    const NoiseFloors& floors = {});

}  // namespace culprit::experiment
