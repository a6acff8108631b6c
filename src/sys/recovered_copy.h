#pragma once

#include <memory>
#include <string>

#include "base/result.h"

namespace culprit::sys {

// RecoveredCopy is a database and its journal copied into a folder of their own, so that SQLite can
// roll the copy back to its last commit without a byte changing beside the user's file.
//
// Owner: whoever holds it; the folder (mode 0700, in TMPDIR) goes with the last owner.
class RecoveredCopy {
 public:
  // NeedsOne tells whether a journal or write-ahead log with content lies beside the database.
  static bool NeedsOne(const std::string& database);
  // Make copies. Fails with kUnreadable (no space, no permission) and with kDamagedTrace when the
  // journal names a super-journal: SQLite would then look at, and may delete, a file of the
  // journal's choosing, and no profiler writes one.
  static base::Result<std::shared_ptr<const RecoveredCopy>> Make(const std::string& database);

  explicit RecoveredCopy(std::string folder) : folder_(std::move(folder)) {}
  RecoveredCopy(const RecoveredCopy&) = delete;
  RecoveredCopy& operator=(const RecoveredCopy&) = delete;
  ~RecoveredCopy();

  [[nodiscard]] std::string database() const { return folder_ + "/copy.db"; }

 private:
  std::string folder_;
};

}  // namespace culprit::sys
