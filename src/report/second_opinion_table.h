#pragma once

#include <span>
#include <string>

#include "gate/second_opinion.h"
#include "report/report.h"

namespace culprit::report {

// CandidateOpinion is what llama-perplexity says of one candidate.
struct CandidateOpinion {
  std::string label;
  gate::SecondOpinion said;
};

// SecondOpinionTable has one row a candidate: how far llama-perplexity finds it from the baseline.
// It judges nobody: the gate's own answer is of other positions and of the server itself.
Table SecondOpinionTable(const std::string& baseline, std::span<const CandidateOpinion> opinions);

}  // namespace culprit::report
