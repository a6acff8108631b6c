#pragma once

#include <string>

#include "experiment/spec.h"
#include "host/session.h"
#include "lab/trial.h"

namespace culprit::cli {

// SessionFor is what an experiment borrows of this machine. holder says who does, to those who
// wait for it.
host::SessionOptions SessionFor(const experiment::Spec& spec, const std::string& holder, bool wait);

// CheckBorrowing fails with kUsage when no machine could have what an experiment borrows, whatever
// it has. It looks at nothing.
base::Status CheckBorrowing(const experiment::Spec& spec);

// JournalServers makes a bench tell a session of each server that it starts and ends. The session
// outlives the use of the bench.
void JournalServers(host::Session& session, lab::Bench& bench);

}  // namespace culprit::cli
