#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "collect/rocprofv3/files.h"
#include "collect/rocprofv3/finish.h"
#include "collect/rocprofv3/log_marks.h"
#include "sys/process.h"
#include "sys/process_group.h"
#include "sys/stop_signal.h"

namespace culprit::collect::rocprofv3 {

// Places are where a trial's things are, by their real paths.
struct Places {
  std::string traces, spill;  // folders of their own
  std::string log;            // stdout and stderr of the server and of the tool in it
  Pass pass = {};             // what the tool records
};

// Watch looks at a traced server and its files, and passes signals on to it.
//
// The server is the process that was started, which rocprofv3 hands over to it; where rocprofv3
// stays and waits (the command line of the first process still has the folder of the traces), it is
// the oldest other process of the group.
class Watch {
 public:
  // Owner: started must outlive the watch.
  Watch(Places places, sys::Process& started);

  Observation Look(const sys::StopSignal& stop);

  // Signal sends one to the server alone, if it lives.
  void Signal(int signal) const;
  void SignalChildren(int signal) const;
  [[nodiscard]] const sys::GroupIdentity& group() const { return group_; }
  // As of the last look.
  [[nodiscard]] const Files& files() const { return files_; }

 private:
  [[nodiscard]] sys::ProcessIdentity FindServer() const;
  [[nodiscard]] bool IsAlive();
  void ReadLog();

  Places places_;
  sys::Process& started_;
  sys::GroupIdentity group_;
  sys::ProcessIdentity server_;
  LogMarks log_;
  std::uint64_t log_read_ = 0;
  Files files_;
  std::vector<sys::ProcessIdentity> children_;
};

}  // namespace culprit::collect::rocprofv3
