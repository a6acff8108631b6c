#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace culprit::store {

// TrialFiles are the files of one traced run and of its untraced companions.
//
// trace is the profiler's file. request is what the client recorded of the traced request, log the
// server's log of it; each may be missing. untraced holds the same request's records without a
// profiler, sorted by name. Paths are hostile until printed.
struct TrialFiles {
  std::string trace;
  std::optional<std::string> request;
  std::optional<std::string> log;
  std::vector<std::string> untraced;
};

// What is in a trial's folder beside its trace and experiment::kServerLog: what happened in it, and
// the request as its client saw it.
inline constexpr const char* kRecordFile = "trial.json";
inline constexpr const char* kRequestFile = "request.json";

// FindTrialFiles looks at a path that a user gave for a variant. A folder must hold one trace; a
// file is the trace itself, and its folder is searched for companions only when it holds no other
// trace, so that nobody's request is taken for another's.
//
// Names it goes by: request.json, server.log, untraced-*.json. Everything else that may be a trace
// (*.db, *.sqlite, *.csv, *.json, *.ggml-ops, each also .gz and .xz) is a candidate; where a
// folder has several, `*results.db` and `*_kernel_trace.csv` are preferred, the database first.
// Fails with kNotFound, or with kNotATrace for a folder without a trace or with several.
base::Result<TrialFiles> FindTrialFiles(const std::string& path);

}  // namespace culprit::store
