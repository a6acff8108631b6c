#pragma once

#include <optional>

#include "base/json_fields.h"
#include "experiment/completion.h"

namespace culprit::experiment {

// ReadTimings reads a `timings` object of llama-server: of its answer, or of a record of it. Absent
// when a time or count is missing or makes no sense; the latter is noted in fields.
std::optional<ServerTimings> ReadTimings(base::JsonFields& fields);

}  // namespace culprit::experiment
