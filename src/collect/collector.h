#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "experiment/trial_record.h"
#include "experiment/variant.h"
#include "sys/process.h"
#include "sys/stop_signal.h"

namespace culprit::collect {

// Subject is the server to take a trace of, before it is started.
struct Subject {
  std::string binary;            // an absolute path
  sys::Environment environment;  // all of it, but for what the collector adds
};

// Place is where the trace of one trial goes.
struct Place {
  std::string folder;    // exists; the trace and whatever else is needed go there
  std::string log_file;  // gets the server's stdout and stderr; read during Finish
};

// Launch is what a collector adds to the start of a server.
struct Launch {
  std::vector<std::string>
      wrapper;  // in front of the server's command line, whose process it becomes
  std::vector<experiment::EnvironmentChange> environment;  // after the variant's own
};

// RequestTimes are the client's, of the request that the trace is about; CLOCK_BOOTTIME.
struct RequestTimes {
  base::HostTime sent, ended;
};

using Collected = experiment::CollectedTrace;

// Collector takes one trace of one server. Check may come at any time, Prepare comes before the
// server's start, Finish once the request has returned.
class Collector {
 public:
  virtual ~Collector() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;  // "rocprofv3"

  // Suspicion says what of it is known to kill servers, and what to do: a clause to stand behind
  // how one died; "" when nothing is known.
  [[nodiscard]] virtual std::string Suspicion() const { return ""; }

  // Check fails with kEnvironment when its tool is not there, and with kServer when this server
  // cannot be traced by it; each says what to do instead. Fails with kInterrupted as well.
  [[nodiscard]] virtual base::Status Check(const Subject& subject,
                                           const sys::StopSignal& stop) const = 0;

  // Prepare fails with what Check fails with, and with kUnreadable where the place is no good.
  virtual base::Result<Launch> Prepare(const Subject& subject, const Place& place,
                                       const sys::StopSignal& stop) = 0;

  // Finish ends the server and its whole group, but only when the trace is safe or is lost for
  // certain: it never waits for the server to leave by itself once the trace is there. Fails with
  // kDamagedTrace or kNotATrace, saying what became of the trace and what to try; all files stay.
  // Fails with kInterrupted when the user wants to stop: the server is killed then.
  virtual base::Result<Collected> Finish(sys::Process& server, const RequestTimes& request,
                                         const sys::StopSignal& stop) = 0;
};

}  // namespace culprit::collect
