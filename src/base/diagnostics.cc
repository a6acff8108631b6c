#include "base/diagnostics.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/check.h"

namespace culprit::base {
namespace {

using enum Severity;

// The one table of findings, in the order of the enum.
constexpr std::array<FindingInfo, static_cast<std::size_t>(Finding::kCount)> kTable = {{
    {Finding::kHotJournal, "hot_journal", kDataLoss,
     "the writer was killed inside a transaction; read from a copy rolled back to its last commit",
     "trace again and let the profiler finish writing"},
    {Finding::kTruncatedFile, "truncated_file", kDataLoss,
     "the file is shorter than its own header says",
     "trace again; the profiler was killed while it wrote, or the copy broke off"},
    {Finding::kQuickCheckFailed, "quick_check_failed", kDataLoss,
     "SQLite's quick_check found damage in the database", "trace again or fetch the file again"},
    {Finding::kTornTail, "torn_tail", kDataLoss, "the file breaks off in the middle of a record",
     "trace again, or copy the file again"},
    {Finding::kNoEnd, "no_end", kDataLoss,
     "the file has no end: the traced process was killed, and what it did last is missing",
     "trace again and let the server end by itself"},
    {Finding::kDroppedRecords, "dropped_records", kDataLoss,
     "records were dropped while they were collected", "look for a full disk, and trace again"},
    {Finding::kMalformedRow, "malformed_row", kDataLoss, "rows could not be read and were left out",
     "look at the first one; a newer profiler may have changed its format"},
    {Finding::kMissingViews, "missing_views", kNotice,
     "the database lacks its views, as one cut off early does; the tables were read by suffix", ""},
    {Finding::kSeveralProcesses, "several_processes", kNotice,
     "the trace holds several processes; all of them were read",
     "choose one with --process if the server had helpers"},
    {Finding::kAllStampsZero, "all_stamps_zero", kError, "every dispatch starts and ends at 0",
     "a known fault of some ROCm 7.13-era builds on gfx1151 (rocm-systems #5720): use another "
     "release"},
    {Finding::kZeroStamps, "zero_stamps", kDataLoss,
     "dispatches have no time stamps and were left out", ""},
    {Finding::kEndBeforeStart, "end_before_start", kDataLoss,
     "dispatches end before they start and were read as the profiler swaps them", ""},
    {Finding::kOutOfOrder, "out_of_order", kInfo,
     "records were not in order of start and were sorted", ""},
    {Finding::kSameLaneOverlap, "same_lane_overlap", kInfo,
     "dispatches overlap an earlier one of their own stream; the earlier one owns the time", ""},
    {Finding::kMissingDispatchIds, "missing_dispatch_ids", kDataLoss,
     "dispatch ids are missing between the first and the last",
     "trace the whole run: no --collection-period, no --selected-regions, no counters"},
    {Finding::kDuplicateDispatches, "duplicate_dispatches", kDataLoss,
     "dispatches are recorded more than once; each was counted once", ""},
    {Finding::kUnknownKernel, "unknown_kernel", kNotice, "dispatches name a kernel the file lacks",
     ""},
    {Finding::kUnknownAgent, "unknown_agent", kNotice, "dispatches name a device the file lacks",
     ""},
    {Finding::kMixedDevices, "mixed_devices", kNotice,
     "several devices ran kernels; each is accounted for by itself", ""},
    {Finding::kGraphWithoutNodes, "graph_without_nodes", kError,
     "graph launches were recorded without the kernels inside them",
     "trace with node granularity (nsys: --cuda-graph-trace=node)"},
    {Finding::kTruncatedNames, "truncated_names", kNotice,
     "kernel names were cut by the profiler; categories may be wrong", ""},
    {Finding::kShapesMissing, "shapes_missing", kNotice,
     "every launch has the same grid: the profiler did not record grids, and categories "
     "rest on names and order alone",
     ""},
    {Finding::kUnsupportedRecords, "unsupported_records", kInfo,
     "records of other kinds were skipped", ""},
    {Finding::kValuelessCounter, "valueless_counter", kNotice,
     "values of counters are no number, as a ratio of nothing is, and were left out of the means",
     ""},
    {Finding::kEmptyWindow, "empty_window", kError, "no dispatch lies in the window",
     "check that the request's clock and the trace's clock are the same"},
    {Finding::kWindowsDisagree, "windows_disagree", kNotice,
     "two ways to find the window disagree by more than 1 %", ""},
    {Finding::kGapElsewhere, "gap_elsewhere", kNotice,
     "the largest gap of the trace does not lie before the request", ""},
    {Finding::kSummedExceedsExclusive, "summed_exceeds_exclusive", kNotice,
     "kernel durations add up to more than the time that passed", ""},
    {Finding::kUnclassified, "unclassified", kNotice, "kernels match no category rule",
     "add a rule with --rules FILE"},
}};

constexpr bool TableIsInOrder() {
  for (std::size_t i = 0; i < kTable.size(); ++i) {
    if (kTable[i].finding != static_cast<Finding>(i)) return false;
  }
  return true;
}
static_assert(TableIsInOrder());

}  // namespace

const FindingInfo& Describe(Finding finding) {
  CULPRIT_CHECK(finding < Finding::kCount);
  return kTable[static_cast<std::size_t>(finding)];
}

void Diagnostics::Add(Finding finding, std::int64_t count, std::string_view example) {
  if (count <= 0) return;
  auto [it, fresh] = entries_.try_emplace(finding, Entry{finding, 0, std::string(example)});
  if (__builtin_add_overflow(it->second.count, count, &it->second.count)) {
    it->second.count = std::numeric_limits<std::int64_t>::max();
  }
  if (it->second.example.empty()) it->second.example = example;
}

void Diagnostics::Merge(const Diagnostics& other) {
  for (const auto& [finding, entry] : other.entries_) Add(finding, entry.count, entry.example);
}

std::int64_t Diagnostics::count(Finding finding) const {
  const auto it = entries_.find(finding);
  return it == entries_.end() ? 0 : it->second.count;
}

std::vector<Diagnostics::Entry> Diagnostics::entries() const {
  std::vector<Entry> all;
  all.reserve(entries_.size());
  for (const auto& [finding, entry] : entries_) all.push_back(entry);
  return all;
}

Severity Diagnostics::worst() const {
  Severity worst = kInfo;
  for (const auto& [finding, entry] : entries_) worst = std::max(worst, Describe(finding).severity);
  return worst;
}

}  // namespace culprit::base
