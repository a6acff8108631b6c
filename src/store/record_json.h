#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "experiment/trial_record.h"

namespace culprit::store {

// WriteRecord is trial.json: all of a record but its Completion, which has a file of its own. The
// keys are those of schema/trial.schema.json.
std::string WriteRecord(const experiment::TrialRecord& record);

// ReadRecord reads trial.json. Unknown keys are ignored. Fails with kBadRequest, saying what is
// missing or of a wrong type.
base::Result<experiment::TrialRecord> ReadRecord(std::string_view json);

}  // namespace culprit::store
