#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "experiment/evaluation.h"
#include "experiment/spec.h"
#include "experiment/trial_record.h"
#include "gate/gate_run.h"
#include "store/trial_folder.h"

namespace culprit::store {

// RunInfo is what a run directory says of itself beside its experiment: run.json.
struct RunInfo {
  std::string culprit_version;
  std::string created;             // UTC, ISO 8601
  experiment::Facts machine;       // "kernel", "gpu", "driver", "boot_id", …
  std::vector<std::string> notes;  // what could not be done, such as a missing power profile
  experiment::NoiseFloors floors;  // known when the run began: the same verdicts later, elsewhere
  std::vector<std::vector<std::string>> counter_passes = {};  // asked for, names of counters each
};

// RunDirectory is one experiment on disk: the wall between what runs servers and what reads
// numbers.
//
//   experiment.toml      the experiment, as culprit ab reads it
//   run.json             format version, machine, notes
//   prompt.txt           the prompt of every request
//   calibration.log      of the server that the prompt was made with, where it was made
//   trials/001-f16/      trial.json, request.json, server.log, … of one trial
//   trials/.next/        the trial that is being run
//   traces/001-f16/      the same of a traced trial, with its trace: never among the timed ones
//   report.html          for people; nobody reads it
//   gate.json            what the correctness gate saw, where it was run to its end
//   gate/                logs of its servers
//   counters/001-f16/    the same of a trial that counted: never among timed or traced ones
//
// A trial's folder appears whole, by a rename: after a crash there are the trials that ended, and
// perhaps .next, which nobody reads. The folder may be moved and packed: paths in it name the files
// of the machine that was measured, never its own.
// Format: doc/formats/run-directory.md.
class RunDirectory {
 public:
  // Create makes an empty one. Fails with kUsage when something is there already, kUnreadable when
  // it cannot be written.
  static base::Result<RunDirectory> Create(const std::string& path, const experiment::Spec& spec,
                                           const RunInfo& info);
  // Open reads what is there. Fails with kNotFound; kUnreadable where permission is missing;
  // kBadRequest, naming the file, when it is no run directory or of a newer format; kMismatch when
  // a valid trial or the gate was run with another variant or workload than experiment.toml has
  // now.
  static base::Result<RunDirectory> Open(const std::string& path);

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const experiment::Spec& spec() const { return spec_; }
  [[nodiscard]] const RunInfo& info() const { return info_; }
  // trials are in the order in which they were run.
  [[nodiscard]] const std::vector<experiment::TrialRecord>& trials() const { return trials_; }
  // traces are the traced trials, in the order in which they were run. Their ids count on their
  // own.
  [[nodiscard]] const std::vector<experiment::TrialRecord>& traces() const { return traces_; }
  // counters are the trials that counted, in the order in which they were run, with ids of their
  // own. Who asks for times or traces does not get them.
  [[nodiscard]] const std::vector<experiment::TrialRecord>& counters() const { return counters_; }

  base::Status WritePrompt(std::string_view prompt) const;
  [[nodiscard]] base::Result<std::string> ReadPrompt() const;
  // WriteInfo replaces run.json.
  base::Status WriteInfo(RunInfo info);

  // gate is what the correctness gate saw; absent where it was not run to its end.
  [[nodiscard]] const std::optional<gate::GateRun>& gate() const { return gate_; }
  // BeginGate empties gate/ and returns its path. EndGate writes gate.json. Fail with kUnreadable.
  [[nodiscard]] base::Result<std::string> BeginGate() const;
  base::Status EndGate(gate::GateRun run);

  // BeginTrial empties trials/.next and returns its path.
  [[nodiscard]] base::Result<std::string> BeginTrial() const;
  // EndTrial writes trial.json and request.json into trials/.next, flushes it to disk, gives it its
  // name and adds the record to trials(), to traces() when it is a traced one, or to counters().
  // Fails with kUnreadable; then they are as before.
  base::Status EndTrial(experiment::TrialRecord record);

  // RemoveUnused removes a run directory in which nothing was run and nothing logged. Returns
  // whether it did.
  [[nodiscard]] bool RemoveUnused() const;

  // FolderOf is the path of a trial's folder.
  [[nodiscard]] std::string FolderOf(const experiment::TrialRecord& record) const;
  // FilesOf are the files in it, as far as they are there; no trace of a timed trial.
  [[nodiscard]] TrialFiles FilesOf(const experiment::TrialRecord& record) const;

 private:
  RunDirectory(std::string path, experiment::Spec spec, RunInfo info)
      : path_(std::move(path)), spec_(std::move(spec)), info_(std::move(info)) {}
  [[nodiscard]] base::Status CheckSettings(
      const std::vector<experiment::TrialRecord>& trials) const;
  [[nodiscard]] base::Status ReadGate();
  [[nodiscard]] base::Status MeanGate();
  // ListOf is where a record belongs.
  std::vector<experiment::TrialRecord>& ListOf(const experiment::TrialRecord& record);

  std::string path_;
  experiment::Spec spec_;
  RunInfo info_;
  std::optional<gate::GateRun> gate_;
  std::vector<experiment::TrialRecord> trials_, traces_, counters_;
};

// IsRunDirectory tells whether a path looks like one, or is one that may not be looked at.
bool IsRunDirectory(const std::string& path);

}  // namespace culprit::store
