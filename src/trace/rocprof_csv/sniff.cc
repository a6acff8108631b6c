#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "sys/csv_rows.h"
#include "trace/rocprof_csv/columns.h"
#include "trace/rocprof_csv/rocprof_csv.h"

namespace culprit::trace::rocprof_csv {
namespace {

constexpr std::string_view kGiveKernelTrace =
    "give the *_kernel_trace.csv of the same run, or trace with rocprofv3 --kernel-trace";

// Table is a CSV that is no kernel trace, known by its columns.
struct Table {
  std::array<std::string_view, 3> columns;  // all of them; "" matches any header
  std::string_view what;
  std::string_view hint = kGiveKernelTrace;
};

constexpr Table kRefused[] = {
    {{"Counter_Name", "", ""},
     "is a counter collection: counters make kernels run one by one, so its times are no timing",
     "culprit counters --read shows it; for times trace with rocprofv3 --kernel-trace and no "
     "--pmc"},
    {{"Calls", "TotalDurationNs", ""},
     "is a table of totals (--stats): the sums of a whole run have no decode window"},
    {{"Total Time (ns)", "Avg (ns)", ""},
     "is a table of totals (nsys stats): the sums of a whole run have no decode window",
     "give the .sqlite file that nsys export writes"},
    {{"Start (ns)", "Duration (ns)", ""},
     "is a report of nsys stats, which rounds and cuts what it prints",
     "give the .sqlite file that nsys export writes"},
    {{"Domain", "Function", ""}, "is a trace of calls on the host (HIP, HSA, markers): no kernels"},
    {{"Kind", "Direction", ""}, "is a trace of memory copies alone: no kernels"},
    {{"Kind", "Operation", ""}, "is a trace of memory allocations: no kernels"},
    {{"Node_Id", "Agent_Type", ""}, "is a list of devices (agent_info): no kernels"},
    {{"Start_Timestamp", "End_Timestamp", "Kind"}, "has time stamps and no kernels"},
};

bool HasAll(std::span<const sys::CsvField> header, const Table& table) {
  return std::ranges::all_of(table.columns, [&](std::string_view column) {
    return column.empty() || sys::FindColumn(header, column).has_value();
  });
}

}  // namespace

Verdict Sniff(const sys::Source& source) {
  // A file cut inside its header is still known by what is left of it.
  const std::string head = std::string(sys::WithoutByteOrderMark(source.head())) + "\n";
  std::vector<sys::CsvField> header;
  if (sys::ParseCsvRow(head, header) == 0) return NotMine{};
  const auto has = [&](std::string_view name) { return sys::FindColumn(header, name).has_value(); };
  const bool kernels = has("Kernel_Name") || has("KernelName") || has("Kernel_Id");
  if (kernels && !has("Counter_Name")) return Mine{};
  const auto* const table =
      std::ranges::find_if(kRefused, [&](const Table& t) { return HasAll(header, t); });
  if (table == std::end(kRefused)) return NotMine{};
  return Refused{
      {base::ErrorCode::kUnsupportedTrace, std::string(table->what), {}, std::string(table->hint)}};
}

}  // namespace culprit::trace::rocprof_csv
