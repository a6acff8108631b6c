#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "collect/collector.h"
#include "experiment/spec.h"
#include "experiment/trial_record.h"
#include "gpu/idle.h"
#include "gpu/processes.h"
#include "gpu/vendor.h"
#include "server/command.h"
#include "sys/process.h"
#include "sys/sha256.h"
#include "sys/stop_signal.h"

namespace culprit::lab {

// Bench is the machine that trials run on. All it points to outlives the trials.
//
// first_gate is the temperature at which the first trial began. before_exec is told of each server
// between its fork and its start and may forbid it; ended when its whole group is gone. symbols
// remembers which builds hold which text, by digest and text: each is hundreds of megabytes.
// prompt_fingerprint is what the prompt was calibrated for (Fingerprint), "" when nobody knows.
struct Bench {
  gpu::Device& device;
  gpu::Pace pace;
  sys::FileHashes hashes = sys::FileHashes();
  sys::StopSignal stop;
  std::optional<gpu::Celsius> first_gate;
  std::string prompt_fingerprint;
  std::function<base::Status(const sys::ProcessIdentity&)> before_exec;
  std::function<void(const sys::ProcessIdentity&)> ended;
  std::map<std::string, bool> symbols = {};
};

// PlannedTrial is a trial before it is run. folder is empty and gets server.log and what else the
// server leaves; slots is where servers keep KV caches between trials. collector takes a trace of
// the server; null in a timed trial.
struct PlannedTrial {
  int id = 0;
  int pair = 0;
  int position = 0;
  bool baseline = false;
  const experiment::Variant* variant = nullptr;
  std::string folder, slots;
  collect::Collector* collector = nullptr;
};

// RunTrial waits for an idle machine, starts the variant's server cold, sends a warm-up request and
// the measured one, and ends the server, whatever happens.
//
// What the server does wrong is in the record, as an objection ("server_failed", "port_taken",
// "context_too_small", "symbol_missing", "log_lacks"), and so is a trace that was lost
// ("trace_failed"); the contract itself is checked by the caller. Fails only when the machine or
// the user says no: kInterrupted, kEnvironment (no free port), kUnreadable (no log can be written).
base::Result<experiment::TrialRecord> RunTrial(const experiment::Spec& spec,
                                               const std::string& prompt,
                                               const PlannedTrial& planned, Bench& bench);

// LaunchOf is how a variant's server is started; the log file is still to be set.
server::LaunchOptions LaunchOf(const experiment::Spec& spec, const experiment::Variant& variant,
                               std::uint16_t port, const std::string& slots);

// SubjectOf is such a server for a collector.
collect::Subject SubjectOf(const server::LaunchOptions& launch);

// DrawsTheScreen tells whether a process is one of those that have a device open all the time to
// draw the screen, and hardly use it.
bool DrawsTheScreen(const gpu::Process& process);

// WarmUpTokens is how many tokens the first, unmeasured request generates after the whole prompt:
// enough for graphs to be captured and kernels to be chosen.
inline constexpr base::Tokens kWarmUpTokens{16};

}  // namespace culprit::lab
