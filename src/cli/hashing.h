#pragma once

#include "sys/sha256.h"

namespace culprit::cli {

// TellOfHashing says on stderr which file is hashed, once that takes over a second, and then how
// far it is: a model of 200 GiB takes minutes.
sys::HashProgress TellOfHashing();

}  // namespace culprit::cli
