#pragma once

#include <array>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sys/csv_rows.h"

namespace culprit::trace::rocprof_csv {

// Column is what the reader takes from a row, whatever a version calls it.
enum class Column : std::size_t {
  kName,
  kStart,
  kEnd,
  kAgent,
  kQueue,
  kStream,
  kDispatchId,
  kKind,
  kGuid,
  kProcess,
  kBlockX,
  kBlockY,
  kBlockZ,
  kGridX,
  kGridY,
  kGridZ,
  kCount,
};

// Columns says where in a row each Column stands, found by name: versions differ in which columns
// there are and in their order.
class Columns {
 public:
  enum class Writer { kRocprofv3, kRocpdConvert, kRocprofV1 };

  // Find reads a header. Fails with kDamagedTrace when a column is missing that a trace needs.
  static base::Result<Columns> Find(std::span<const sys::CsvField> header);

  [[nodiscard]] Writer writer() const { return writer_; }
  [[nodiscard]] bool Has(Column column) const { return at(column) != kAbsent; }
  // Get returns the column's field of a row of width() fields; an empty one where it is absent.
  [[nodiscard]] sys::CsvField Get(std::span<const sys::CsvField> row, Column column) const {
    return Has(column) ? row[at(column)] : sys::CsvField{};
  }
  [[nodiscard]] std::size_t width() const { return width_; }
  // IsHeader tells whether a row is a header again, as where files were joined with cat.
  [[nodiscard]] bool IsHeader(std::span<const sys::CsvField> row) const {
    return sys::SameName(row[0].text, first_name_);
  }

 private:
  static constexpr std::size_t kAbsent = std::numeric_limits<std::size_t>::max();
  [[nodiscard]] std::size_t at(Column column) const {
    return at_[static_cast<std::size_t>(column)];
  }

  Writer writer_ = Writer::kRocprofv3;
  std::array<std::size_t, static_cast<std::size_t>(Column::kCount)> at_{};
  std::size_t width_ = 0;
  std::string first_name_;
};

}  // namespace culprit::trace::rocprof_csv
