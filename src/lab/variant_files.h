#pragma once

#include "base/result.h"
#include "experiment/variant.h"

namespace culprit::lab {

// What a variant names, as its server will find it: from the variant's working directory. All fail
// with kNotFound, kUnreadable or kEnvironment, the path in the place.
base::Status CheckBinary(const experiment::Variant& variant);
base::Status CheckModel(const experiment::Variant& variant);
base::Status CheckFolder(const experiment::Variant& variant);

// TryBinary runs the binary with --version, in the environment of the variant's server: it finds
// its libraries and the machine can execute it. One that takes too long to answer is believed.
base::Status TryBinary(const experiment::Variant& variant);

}  // namespace culprit::lab
