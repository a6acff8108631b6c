#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "experiment/spec.h"
#include "experiment/trial_record.h"

namespace culprit::store {

// RecordedRuns are runs that somebody measured without culprit: an experiment without an order of
// its own, as far as it can be told.
//
// spec names the variants, baseline first; its binaries are empty. The k-th run of each variant
// makes a pair. lengths_known: the numbers of tokens were recorded.
struct RecordedRuns {
  experiment::Spec spec;
  std::vector<experiment::TrialRecord> trials;
  bool lengths_known = true;
};

// Complete fills in what follows from variants, workload and runs: objections and the design, whose
// number of pairs was decided beforehand as far as anybody knows. Both readers end with it.
void Complete(RecordedRuns& runs);

// VariantFolder is a folder with one file untraced-N.json for each run of a variant.
struct VariantFolder {
  std::string label, path;
};

// FindVariantFolders lists the folders in `path` that hold such files, by name; may be empty.
std::vector<VariantFolder> FindVariantFolders(const std::string& path);

// ReadVariantFolders reads at least two of them; the first is the baseline. Positions follow the
// times at which requests were sent. Runs of another length than most are void.
// Fails with kNotFound, kBadRequest, or kMismatch when a folder has no run.
base::Result<RecordedRuns> ReadVariantFolders(const std::vector<VariantFolder>& folders);

// ReadRunTable reads a table of runs, CSV with a header, one run a row, in the order in which they
// were run:
//
//   variant,output_tokens,decode_tok_s,prompt_tokens,prefill_tok_s,acceptance,text
//   f16,512,64.83,,,0.96764,a
//
// variant is needed, and output_tokens with decode_tok_s (by N - 1) or decode_ms_per_token, or
// prompt_tokens with prefill_tok_s or prefill_ms_per_token; the variant of the first row is the
// baseline. acceptance is a share of drafted tokens, text anything that is equal for equal texts.
// Fails with kUsage or kBadRequest, with the line.
base::Result<RecordedRuns> ReadRunTable(const std::string& path);

}  // namespace culprit::store
