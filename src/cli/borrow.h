#pragma once

#include <functional>
#include <string>

#include "cli/exit_code.h"
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

// WithMachine borrows this machine, calls use with a bench on it and the state folder, and gives it
// back before anything is said, also before an error of use. holder is as for SessionFor. Returns
// kDone, or the code of what went wrong, which is said on stderr.
struct Loan {
  const experiment::Spec& spec;
  std::string holder;
  bool wait;
};
using UseOfMachine = std::function<base::Status(lab::Bench& bench, const std::string& state)>;
ExitCode WithMachine(const Loan& loan, const UseOfMachine& use);

}  // namespace culprit::cli
