#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sys/sqlite.h"

namespace culprit::trace::nsys {

inline constexpr std::string_view kKernels = "CUPTI_ACTIVITY_KIND_KERNEL";
inline constexpr std::string_view kCopies = "CUPTI_ACTIVITY_KIND_MEMCPY";
inline constexpr std::string_view kFills = "CUPTI_ACTIVITY_KIND_MEMSET";
inline constexpr std::string_view kGraphs = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
inline constexpr std::string_view kRuntime = "CUPTI_ACTIVITY_KIND_RUNTIME";
inline constexpr std::string_view kDriver = "CUPTI_ACTIVITY_KIND_DRIVER";
inline constexpr std::string_view kStrings = "StringIds";
inline constexpr std::string_view kGpus = "TARGET_INFO_GPU";

// Schema is which of these tables an export has, and with which columns. Exports of different
// versions differ in columns; a table without rows is often left out.
class Schema {
 public:
  // Load fails as the database does.
  static base::Result<Schema> Load(const sys::SqliteConnection& db);

  [[nodiscard]] bool is_nsys() const { return Has(kStrings) && is_nsys_; }
  [[nodiscard]] bool Has(std::string_view table) const { return columns_.contains(table); }
  [[nodiscard]] bool Has(std::string_view table, std::string_view column) const;
  // Identity is SQL for the number that tells the kernels, copies, graphs or calls of a table
  // apart.
  [[nodiscard]] std::string Identity(std::string_view table) const;
  // List is SQL for the columns in their order, NULL for those that are not there.
  [[nodiscard]] std::string List(std::string_view table,
                                 std::initializer_list<std::string_view> columns) const;

 private:
  std::map<std::string_view, std::vector<std::string>> columns_;  // keys are the constants above
  bool is_nsys_ = false;
};

}  // namespace culprit::trace::nsys
