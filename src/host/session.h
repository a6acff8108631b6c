#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/guardian.h"
#include "host/journal.h"
#include "host/machine_lock.h"
#include "host/restore.h"
#include "sys/process.h"

namespace culprit::host {

// Change is a wish for one setting (see Knob for ids and values). An optional one that cannot be
// had is a warning; any other ends the borrowing.
struct Change {
  std::string setting, want;
  bool optional = false;
};

// CheckChange fails with kUsage on what is no setting, or no value that it can have.
base::Status CheckChange(const Change& change);

// SessionOptions says what to borrow. health_urls are the user's own services; those that answer
// before must answer again afterwards, within health_deadline.
struct SessionOptions {
  std::vector<Change> changes;
  std::vector<std::string> health_urls;
  std::chrono::seconds health_deadline = std::chrono::minutes(10);
  std::string holder;  // for those who wait for the machine: "culprit ab … in runs/x"
  bool wait_for_machine = true;
  RestoreOptions restore;
  AtStep at_step = {};
};

// Session is this machine, borrowed: from Begin to End nobody else's run uses it, and it is put
// back whatever happens. A setting that is as wanted already is not touched.
//
// Without End it is put back by the destructor; when the whole process dies, by the guardian; when
// that dies too, by the next Begin or by `culprit restore`, from the journal.
class Session {
 public:
  // Begin takes the lock, puts back what an interrupted run left, and makes the changes, each
  // journaled first. Fails with kUsage on a setting that is none, kNotRestored when the machine
  // could not be put back, kEnvironment, kInterrupted, kUnreadable (the journal cannot be written):
  // nothing is changed then, or is as it was again.
  static base::Result<std::unique_ptr<Session>> Begin(const SessionOptions& options,
                                                      const sys::StopSignal& stop);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() { static_cast<void>(End()); }

  // earlier is what was put back of an interrupted run, before this one began.
  [[nodiscard]] const std::optional<RestoreReport>& earlier() const { return earlier_; }
  // warnings are sentences: optional changes that could not be made, addresses that are silent.
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }

  // NoteStarted journals a process that this machine does not have once it is given back; for
  // ProcessOptions::before_exec. NoteEnded says that its whole group is gone.
  base::Status NoteStarted(const sys::ProcessIdentity& process, std::string_view what);
  void NoteEnded(const sys::ProcessIdentity& process);
  // EnsureGuardian starts another guardian when there is none alive: before each trial. Fails with
  // kInterrupted where stop was asked for meanwhile, else with kEnvironment.
  base::Status EnsureGuardian(const sys::StopSignal& stop);

  // End puts the machine back and gives it to others. What failed stays in the journal. Called
  // again it does nothing.
  RestoreReport End();

 private:
  Session(const SessionOptions& options, std::string folder, MachineLock lock)
      : options_(options), folder_(std::move(folder)), lock_(std::move(lock)) {}
  base::Status RestoreEarlier();
  base::Status Borrow(const sys::StopSignal& stop);
  struct Planned {
    Setting setting;
    bool optional;
  };
  base::Result<std::optional<Planned>> Plan(const Change& change);
  base::Status Apply(const Setting& setting);

  SessionOptions options_;
  std::string folder_;
  std::optional<MachineLock> lock_;
  std::optional<Journal> journal_;
  std::optional<Guardian> guardian_;
  std::optional<RestoreReport> earlier_;
  std::vector<std::string> warnings_;
};

}  // namespace culprit::host
