#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "gate/gate_run.h"

namespace culprit::store {

// KeptGate is a gate as a run directory keeps it: without a level and without what is approximate,
// which the experiment says. settings are hashes of the variants and of the
// workload that it was run with, by label: an answer holds for no other.
struct KeptGate {
  gate::GateRun run;
  std::map<std::string, std::string> settings;
};

// WriteGate is gate.json: what a gate saw, and no judgement. The keys are those of
// schema/gate.schema.json; what is infinite is left out, as JSON has no word for it.
std::string WriteGate(const KeptGate& kept);

// ReadGate reads gate.json. Unknown keys are ignored. Fails with kBadRequest, saying what is
// missing or makes no sense.
base::Result<KeptGate> ReadGate(std::string_view json);

}  // namespace culprit::store
