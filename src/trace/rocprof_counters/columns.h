#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "sys/csv_rows.h"

namespace culprit::trace::rocprof_counters {

// Column is what the reader takes from a row. kStart is looked at only where a window is given.
enum class Column : std::size_t {
  kName,
  kDispatchId,
  kCounter,
  kValue,
  kStart,
  kAgent,
  kProcess,
  kGuid,
  kGrid,
  kBlock,
  kGridX,
  kGridY,
  kGridZ,
  kBlockX,
  kBlockY,
  kBlockZ,
  kVgpr,
  kAccumVgpr,
  kSgpr,
  kLds,
  kScratch,
  kCount,
};

// Columns says where in a row each Column stands, found by name, capitals aside.
class Columns {
 public:
  // Find reads a header. Fails with kNotATrace when it is not that of a counter collection, and
  // with kDamagedTrace when a column is missing without which there is nothing to add up.
  static base::Result<Columns> Find(std::span<const sys::CsvField> header, bool with_times);

  [[nodiscard]] bool Has(Column column) const { return at(column).has_value(); }
  // Get returns the column's field of a row of width() fields; an empty one where it is absent.
  [[nodiscard]] sys::CsvField Get(std::span<const sys::CsvField> row, Column column) const {
    return Has(column) ? row[*at(column)] : sys::CsvField{};
  }
  [[nodiscard]] std::size_t width() const { return width_; }
  // IsHeader tells whether a row is a header again, as where files were joined with cat.
  [[nodiscard]] bool IsHeader(std::span<const sys::CsvField> row) const {
    return sys::SameName(row[0].text, first_name_);
  }

 private:
  [[nodiscard]] std::optional<std::size_t> at(Column column) const {
    return at_[static_cast<std::size_t>(column)];
  }

  std::array<std::optional<std::size_t>, static_cast<std::size_t>(Column::kCount)> at_{};
  std::size_t width_ = 0;
  std::string first_name_;
};

}  // namespace culprit::trace::rocprof_counters
