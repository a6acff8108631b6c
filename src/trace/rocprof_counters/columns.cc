#include "trace/rocprof_counters/columns.h"

#include "trace/csv_fields.h"

namespace culprit::trace::rocprof_counters {
namespace {

using base::ErrorCode;
using base::Fail;

struct Named {
  Column column;
  std::string_view name;
  bool needed = false;
};

// "Correlation_Id","Dispatch_Id","Agent_Id","Queue_Id","Process_Id","Thread_Id","Grid_Size",
// "Kernel_Id","Kernel_Name","Workgroup_Size","LDS_Block_Size","Scratch_Size","VGPR_Count",
// "Accum_VGPR_Count","SGPR_Count","Counter_Name","Counter_Value","Start_Timestamp","End_Timestamp"
// Grid_Size and Workgroup_Size are products of all three dimensions.
constexpr Named kNames[] = {
    {Column::kName, "Kernel_Name", true},
    {Column::kDispatchId, "Dispatch_Id", true},
    {Column::kCounter, "Counter_Name", true},
    {Column::kValue, "Counter_Value", true},
    {Column::kStart, "Start_Timestamp"},
    {Column::kAgent, "Agent_Id"},
    {Column::kProcess, "Process_Id"},
    {Column::kGuid, "Guid"},
    {Column::kGrid, "Grid_Size"},
    {Column::kBlock, "Workgroup_Size"},
    {Column::kGridX, "Grid_Size_X"},
    {Column::kGridY, "Grid_Size_Y"},
    {Column::kGridZ, "Grid_Size_Z"},
    {Column::kBlockX, "Workgroup_Size_X"},
    {Column::kBlockY, "Workgroup_Size_Y"},
    {Column::kBlockZ, "Workgroup_Size_Z"},
    {Column::kVgpr, "VGPR_Count"},
    {Column::kAccumVgpr, "Accum_VGPR_Count"},
    {Column::kSgpr, "SGPR_Count"},
    {Column::kLds, "LDS_Block_Size"},
    {Column::kScratch, "Scratch_Size"},
};

constexpr const char* kGiveCounters = "give the *_counter_collection.csv of rocprofv3 --pmc";

}  // namespace

base::Result<Columns> Columns::Find(std::span<const sys::CsvField> header, bool with_times) {
  if (!sys::FindColumn(header, "Counter_Name")) {
    const bool kernels = sys::FindColumn(header, "Kernel_Name").has_value();
    return Fail(ErrorCode::kNotATrace,
                kernels ? "is a kernel trace, in which nothing is counted"
                        : "is no counter collection; it has " + Listed(header),
                {}, kernels ? "culprit analyze reads it" : kGiveCounters);
  }
  Columns columns;
  columns.width_ = header.size();
  columns.first_name_ = header[0].text;
  for (const auto& [column, name, needed] : kNames) {
    const auto found = sys::FindColumn(header, name);
    columns.at_[static_cast<std::size_t>(column)] = found;
    if (found || !(needed || (with_times && column == Column::kStart))) continue;
    return Fail(ErrorCode::kDamagedTrace,
                "lacks the column " + std::string(name) + "; it has " + Listed(header), {},
                kGiveCounters);
  }
  return columns;
}

}  // namespace culprit::trace::rocprof_counters
