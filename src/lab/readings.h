#pragma once

#include <optional>

#include "experiment/trial_record.h"
#include "gpu/usage.h"
#include "gpu/vendor.h"

namespace culprit::lab {

// ReadingsOf writes what a device did, or said at one instant, as a record keeps it.
experiment::Readings ReadingsOf(const gpu::Usage& usage);
experiment::Readings ReadingsOf(const gpu::Reading& reading);

}  // namespace culprit::lab
