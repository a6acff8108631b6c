#pragma once

#include <vector>

#include "experiment/spec.h"
#include "experiment/trial_record.h"

namespace culprit::experiment {

// The contract says when a trial counts. It is checked before anybody looks at a time: nothing is
// ever left out because of its value.

// kNotIdle is the objection to a trial that waited for an idle machine in vain.
inline constexpr const char* kNotIdle = "not_idle";

// ObjectTo lists what breaks the contract in one trial: another number of tokens than asked for, an
// early stop, a prompt partly from the cache, a foreign process on the device, throttling, a
// machine that was not idle, or a server that is not the one of an earlier valid trial of the same
// variant (other libraries, backend or layers); earlier may be null.
std::vector<Objection> ObjectTo(const TrialRecord& trial, const Workload& workload,
                                const TrialRecord* earlier);

// ObjectToPair lists what keeps a candidate's trial from being compared with its baseline's, both
// valid alone: one of them fell back to the CPU or placed fewer layers on the device although
// nothing asked for it, or speculation accepted another share while the texts differ (other texts
// are other work).
std::vector<Objection> ObjectToPair(const Spec& spec, const TrialRecord& baseline,
                                    const TrialRecord& candidate);

// Temporary tells whether running the pair again may help: a foreign process may leave, a wrong
// backend will not.
bool Temporary(const Objection& objection);

}  // namespace culprit::experiment
