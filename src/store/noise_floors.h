#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace culprit::store {

// AaSession is what one comparison of a variant with itself came to, as differences of ln cost.
// setting names machine, model and workload: only sessions of one setting belong together.
// half_width is that of the interval; absent in lines of earlier versions.
struct AaSession {
  struct Metric {
    double log_ratio;
    std::optional<double> half_width;
  };
  std::string setting;
  std::string when;  // UTC, ISO 8601
  std::optional<Metric> decode, prefill;
};

// AppendAaSession adds a line to aa-sessions.jsonl of a folder, which is made when missing.
base::Status AppendAaSession(const std::string& folder, const AaSession& session);

// ReadAaSessions reads those of one setting; lines that are torn or of a later format are passed
// over, and so are differences and half-widths that no noise makes. Empty when there is no file.
std::vector<AaSession> ReadAaSessions(const std::string& folder, const std::string& setting);

}  // namespace culprit::store
