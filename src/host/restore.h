#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/health.h"
#include "host/journal.h"

namespace culprit::host {

// HealthCheck asks an address and says whether it answered 200.
using HealthCheck = std::function<bool(const std::string& url)>;

// Progress tells the user in a sentence what happens now.
using Progress = std::function<void(const std::string& sentence)>;

// RestoreOptions says how to put the machine back. rest is how long a setting may take to come to
// rest after a change; a service may load a large model then.
struct RestoreOptions {
  HealthCheck answers = AnswersOk;
  std::chrono::nanoseconds rest = std::chrono::minutes(2);
  Progress progress = {};
};

// RestoreReport is what putting the machine back came to, a sentence each: what is as it was again,
// what was left because somebody else had changed it since, and what failed.
struct RestoreReport {
  std::vector<std::string> restored, left, failed;
  bool rebooted = false;  // the machine, since the journal was written
  [[nodiscard]] bool complete() const { return failed.empty(); }
  // AsStatus fails with kNotRestored when something failed.
  [[nodiscard]] base::Status AsStatus() const;
};

// Restore undoes a journal from its end to its beginning: processes are killed, settings written
// back and read again, addresses asked until they answer. What fails does not stop the rest. Each
// step is journaled, so that Restore can be killed and called again. The journal goes once nothing
// has failed, and stays otherwise.
//
// A setting that is neither as it was nor as we wanted it was changed by somebody else since, and
// is left. After a reboot there are no processes of ours; settings are compared as ever.
RestoreReport Restore(Journal& journal, const RestoreOptions& options);

}  // namespace culprit::host
