#include "trace/rocprof_csv/columns.h"

#include "trace/csv_fields.h"

namespace culprit::trace::rocprof_csv {
namespace {

struct Named {
  Column column;
  std::string_view name;
  bool needed = false;
};

// "Kind","Agent_Id","Queue_Id","Stream_Id","Thread_Id","Dispatch_Id","Kernel_Id","Kernel_Name",
// "Correlation_Id","Start_Timestamp","End_Timestamp","LDS_Block_Size",…,"Workgroup_Size_X",…
constexpr Named kRocprofv3[] = {
    {Column::kName, "Kernel_Name", true},
    {Column::kStart, "Start_Timestamp", true},
    {Column::kEnd, "End_Timestamp", true},
    {Column::kAgent, "Agent_Id", true},
    {Column::kQueue, "Queue_Id", true},
    {Column::kStream, "Stream_Id"},
    {Column::kDispatchId, "Dispatch_Id"},
    {Column::kKind, "Kind"},
    {Column::kGuid, "Guid"},
    {Column::kProcess, "Process_Id"},
    {Column::kBlockX, "Workgroup_Size_X"},
    {Column::kBlockY, "Workgroup_Size_Y"},
    {Column::kBlockZ, "Workgroup_Size_Z"},
    {Column::kGridX, "Grid_Size_X"},
    {Column::kGridY, "Grid_Size_Y"},
    {Column::kGridZ, "Grid_Size_Z"},
};

// "Index","KernelName","gpu-id","queue-id","queue-index","pid","tid","grd","wgr",…,"BeginNs",…
// grd and wgr are products of all three dimensions. Whether Index counts in each process or over
// all of them is not known, so it is no dispatch id.
constexpr Named kRocprofV1[] = {
    {Column::kName, "KernelName", true},
    {Column::kStart, "BeginNs", true},
    {Column::kEnd, "EndNs", true},
    {Column::kAgent, "gpu-id", true},
    {Column::kQueue, "queue-id", true},
    {Column::kProcess, "pid"},
    {Column::kBlockX, "wgr"},
    {Column::kGridX, "grd"},
};

}  // namespace

base::Result<Columns> Columns::Find(std::span<const sys::CsvField> header) {
  Columns columns;
  columns.at_.fill(kAbsent);
  columns.width_ = header.size();
  columns.first_name_ = header[0].text;
  const bool v1 = sys::FindColumn(header, "KernelName").has_value();
  columns.writer_ = v1                                ? Writer::kRocprofV1
                    : sys::FindColumn(header, "Guid") ? Writer::kRocpdConvert
                                                      : Writer::kRocprofv3;
  for (const auto& [column, name, needed] :
       v1 ? std::span<const Named>(kRocprofV1) : std::span<const Named>(kRocprofv3)) {
    if (const auto found = sys::FindColumn(header, name)) {
      columns.at_[static_cast<std::size_t>(column)] = *found;
    } else if (needed) {
      return base::Fail(base::ErrorCode::kDamagedTrace,
                        "lacks the column " + std::string(name) + "; it has " + Listed(header), {},
                        "give the file as the profiler wrote it, with time stamps");
    }
  }
  return columns;
}

}  // namespace culprit::trace::rocprof_csv
