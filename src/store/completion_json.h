#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "experiment/completion.h"

namespace culprit::store {

// ReadCompletion reads a request from JSON: what a client recorded (t_send, t_chunk or t_token,
// t_end, clock), or just the server's answer with its `timings`. Unknown keys are ignored.
//
// Stamps without a named clock that lie after the year 2001 in nanoseconds since 1970 are taken
// for CLOCK_REALTIME. Fails with kBadRequest, naming the key, on a wrong type, on times that run
// backwards, and when neither times nor timings are there.
base::Result<experiment::Completion> ReadCompletion(std::string_view json);

// WriteCompletion is a request as ReadCompletion reads it, all of it.
std::string WriteCompletion(const experiment::Completion& completion);

// ReadCompletionFile is ReadCompletion of a file; its errors name it.
base::Result<experiment::Completion> ReadCompletionFile(const std::string& path);

}  // namespace culprit::store
