#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "experiment/completion.h"

namespace culprit::experiment {

// Facts are what a server said of itself, or what its files are: "kv_cache_mib" → "1572". Keys are
// snake_case and end in their unit; see doc/formats/run-directory.md for all of them.
using Facts = std::map<std::string, std::string>;

// Spread is what was read of one quantity over a stretch of time.
struct Spread {
  double mean = 0, min = 0, max = 0;
  bool operator==(const Spread&) const = default;
};

// Readings are the quantities of one phase of a trial ("before", "prefill", "decode", "after"),
// keyed by name and unit: "power_w", "core_clock_mhz", "busy_share", "server_cpu_cores". What the
// machine does not tell is absent.
struct Readings {
  std::map<std::string, Spread> values;
  std::optional<std::vector<std::string>> throttled;  // reasons that the device gave, sorted
  bool operator==(const Readings&) const = default;
};

// Gate is how the wait for an idle machine went before a trial.
struct Gate {
  bool idle = false;
  bool cooled = true;  // back within 2 °C of the first trial's gate, or no temperature is known
  base::Nanos waited{};
  std::string why_not;  // what was wrong, such as who was busy; "" when all was well
  bool operator==(const Gate&) const = default;
};

// Objection is one reason why a trial counts for nothing. id is stable, snake_case.
struct Objection {
  std::string id, text;
  bool operator==(const Objection&) const = default;
};

// CollectedTrace is a trace that is safe: complete as far as its collector can tell, and on disk.
//
// file and others are names inside the trial's folder; others are traces of other processes.
// flush is the time from the request to stop to the last byte. how says in a few words how the
// server was brought to write its trace and how it ended; notes are for the user to read.
struct CollectedTrace {
  std::string file;
  std::vector<std::string> others;
  std::uint64_t bytes = 0;
  base::Nanos flush{};
  std::string how;
  std::vector<std::string> notes;
  bool operator==(const CollectedTrace&) const = default;
};

// kServerLog is the name of the server's log in a trial's folder.
inline constexpr const char* kServerLog = "server.log";

// TrialRecord is one cold start of the server and one measured request: what happened, as it
// happened. Times derived from it are never stored.
//
// A traced trial ran under a collector: its times are no speed, and it belongs to no pair. Its
// trace is absent when it was lost, which is then an objection ("trace_failed").
//
// pair counts from 0; position is the place in the order of all trials that were run. baseline
// tells the first arm of an A/A pair from the second, which has the same variant. objections are
// the contract's (experiment/contract.h), made before anybody looks at the times; a server that
// failed is one of them, and then completion is absent.
struct TrialRecord {
  int id = 0;  // counts from 1, also the folder's name
  int pair = 0;
  int position = 0;
  std::string variant;
  bool baseline = false;
  std::string started;  // UTC, ISO 8601
  std::string setting;  // a hash of the variant and workload that it was run with; "" not known
  std::optional<Completion> completion;
  Facts facts;
  std::map<std::string, std::string> objects;  // path of each mapped library and binary → SHA-256
  std::optional<Gate> gate;
  std::map<std::string, Readings> readings;  // by phase
  std::optional<double> energy_j;            // of the device over the request, an estimate
  std::vector<std::string> foreign_processes;
  std::optional<base::Nanos> load_time;  // from the start to the first healthy answer
  std::vector<Objection> objections;
  std::string collector;  // "rocprofv3", "rocprofv3 --pmc"; "" when nothing traced the server
  std::optional<CollectedTrace> trace;
  // Names of what was counted of each kernel; empty in any other trial. Such a trial's kernels ran
  // one by one: its trace has counters instead of times.
  std::vector<std::string> counters = {};

  [[nodiscard]] bool valid() const { return objections.empty() && completion.has_value(); }
  [[nodiscard]] bool traced() const { return !collector.empty(); }
  [[nodiscard]] bool counted() const { return !counters.empty(); }
};

}  // namespace culprit::experiment
