#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/plan.h"
#include "gpu/vendor.h"
#include "lab/tracer.h"
#include "store/run_directory.h"

namespace culprit::cli {

// CounterPass names what is counted in one run of a server.
using CounterPass = std::vector<std::string>;

// ParsePasses reads what --pmc was given, a pass each: names between commas or blanks, each once.
// Fails with kUsage on what can be no counter's name.
base::Result<std::vector<CounterPass>> ParsePasses(std::span<const std::string> given);

// PassesWith are the passes that a run has been asked for, `kept`, and those that are new; the one
// that every GPU of AMD has room for where there are none at all.
std::vector<CounterPass> PassesWith(std::vector<CounterPass> kept, std::vector<CounterPass> given);

// TracePlans are what the stages take of a run's variants beside times: nothing, a trace of each,
// or counters of each, a plan for each pass. Records are those that the run has now. Fails with
// kUsage on a collector that is none, and with kBadRequest on a pass that the run should not have.
base::Result<std::vector<lab::TracePlan>> TracePlans(const store::RunDirectory& run, Stages stages,
                                                     gpu::Vendor vendor,
                                                     std::span<const CounterPass> passes,
                                                     const std::string& prompt);

// HasAllTraces tells whether nothing of that is missing.
bool HasAllTraces(const store::RunDirectory& run, Stages stages,
                  std::span<const CounterPass> passes);

}  // namespace culprit::cli
