#pragma once

#include <string>
#include <vector>

#include "experiment/evaluation.h"
#include "experiment/spec.h"
#include "report/report.h"

namespace culprit::report {

// AbContext is what an evaluation alone does not know.
struct AbContext {
  std::string where;               // the run directory, or the file that the numbers came from
  std::string log = {};            // of the trial that ended the run; "" without such a trial
  std::vector<std::string> notes;  // of the run: what could not be done on the machine
  bool is_run = false;             // where is a run directory, which can be traced
  std::string command = "ab";      // what goes on with such a one
  bool finished = true;            // false: the run was broken off or is still going on
  bool counts_known = true;        // false: nothing tells how many tokens the prompt had
};

// AbReport is the answer of a controlled A/B: a verdict on decode and one on prefill for each
// candidate, the table of variants, what differs between the servers, and what was void.
Report AbReport(const experiment::Spec& spec, const experiment::Evaluation& evaluation,
                const AbContext& context);

}  // namespace culprit::report
