#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace culprit::base {

// Severity orders findings: a notice is worth knowing, data_loss means records are missing or
// altered, an error means that no number of this trace can be claimed.
enum class Severity { kInfo, kNotice, kDataLoss, kError };

// Finding is one way in which data can be imperfect. All of them are listed here and described
// in the table in diagnostics.cc; nothing else in the program invents one.
enum class Finding {
  // file
  kHotJournal,
  kTruncatedFile,
  kQuickCheckFailed,
  kTornTail,
  kNoEnd,
  kDroppedRecords,
  kMalformedRow,
  kMissingViews,
  kSeveralProcesses,
  // time stamps
  kAllStampsZero,
  kZeroStamps,
  kEndBeforeStart,
  kOutOfOrder,
  kSameLaneOverlap,
  // identity and completeness of records
  kMissingDispatchIds,
  kDuplicateDispatches,
  kUnknownKernel,
  kUnknownAgent,
  kMixedDevices,
  kGraphWithoutNodes,
  kTruncatedNames,
  kShapesMissing,
  kUnsupportedRecords,
  kValuelessCounter,
  // windows and categories
  kEmptyWindow,
  kWindowsDisagree,
  kGapElsewhere,
  kSummedExceedsExclusive,
  kUnclassified,
  kCount,
};

struct FindingInfo {
  Finding finding;
  std::string_view id;  // stable, snake_case; in JSON and in tests
  Severity severity;
  std::string_view what;    // a sentence without full stop, after which the count is printed
  std::string_view advice;  // what to do next; may be empty
};

// Describe returns the row of the table.
const FindingInfo& Describe(Finding finding);

// Diagnostics counts findings, each with the first example seen. Ordered by Finding.
class Diagnostics {
 public:
  struct Entry {
    Finding finding;
    std::int64_t count;
    std::string example;  // the first one: where, or which; may be empty
    bool operator==(const Entry&) const = default;
  };

  // Add ignores counts that are not positive, and stops at the largest integer.
  void Add(Finding finding, std::int64_t count = 1, std::string_view example = {});
  void Merge(const Diagnostics& other);
  [[nodiscard]] std::int64_t count(Finding finding) const;
  [[nodiscard]] bool Has(Finding finding) const { return count(finding) > 0; }
  [[nodiscard]] std::vector<Entry> entries() const;
  [[nodiscard]] Severity worst() const;  // kInfo when empty

 private:
  std::map<Finding, Entry> entries_;
};

}  // namespace culprit::base
