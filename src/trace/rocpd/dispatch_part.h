#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "sys/sqlite_scan.h"
#include "trace/rocpd/interner.h"
#include "trace/rocpd/lookups.h"
#include "trace/rocpd/schema.h"

namespace culprit::trace::rocpd {

// DispatchColumns are the columns of rocpd_kernel_dispatch that matter, as far as a file has them.
class DispatchColumns {
 public:
  enum Field {
    kStart,
    kEnd,
    kKernel,
    kDispatch,
    kProcess,
    kAgent,
    kQueue,
    kStream,
    kTrack,
    kBlockX,
    kBlockY,
    kBlockZ,
    kGridX,
    kGridY,
    kGridZ,
    kFields
  };
  // Fails with kDamagedTrace when the table lacks what no dispatch can be without.
  static base::Result<DispatchColumns> Of(const IdSpace& space);

  // names are the columns to ask a TableScan for.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] std::int64_t Int(const sys::IntegerRow& row, Field field) const {
    const std::size_t at = place_[field];
    return at == kAbsent ? 0 : row.value[at];
  }
  [[nodiscard]] bool IsNull(const sys::IntegerRow& row, Field field) const {
    const std::size_t at = place_[field];
    return at == kAbsent || row.null[at];
  }

 private:
  static constexpr std::size_t kAbsent = ~std::size_t{0};
  std::vector<std::string> names_;
  std::array<std::size_t, kFields> place_{};
};

// DispatchPart is what one thread reads: dispatches in file order, in blocks that can be freed one
// by one while they become columns of the trace. Indexes are the part's own.
class DispatchPart {
 public:
  struct Block {
    std::vector<std::int64_t> start, end, dispatch_id;
    std::vector<std::uint32_t> kernel, geometry, place;
  };
  static constexpr std::size_t kBlockRows = 65536;
  static constexpr std::int64_t kNoDispatchId = -1;

  // only_pid leaves out dispatches of other processes. lookups must outlive the part.
  DispatchPart(const DispatchColumns& columns, const Lookups& lookups,
               std::optional<std::int64_t> only_pid)
      : columns_(columns), lookups_(&lookups), only_pid_(only_pid) {}

  void Add(const sys::IntegerRow& row);

  [[nodiscard]] std::vector<Block>& blocks() { return blocks_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t kernels() const { return kernels_.keys().size(); }
  [[nodiscard]] std::int64_t kernel_id(std::size_t index) const {
    return kernels_.keys()[index][0];
  }
  [[nodiscard]] std::size_t geometries() const { return geometries_.keys().size(); }
  [[nodiscard]] Geometry geometry(std::size_t index) const;
  // places are all seen, also those of other processes than only_pid.
  [[nodiscard]] const std::vector<Place>& places() const { return places_; }
  [[nodiscard]] bool wanted(std::size_t place) const { return wanted_[place] != 0; }

 private:
  std::uint32_t PlaceIndex(const sys::IntegerRow& row);

  DispatchColumns columns_;
  const Lookups* lookups_;
  std::optional<std::int64_t> only_pid_;
  std::vector<Block> blocks_;
  std::size_t size_ = 0;
  Interner<1> kernels_;
  Interner<6> geometries_;     // workgroup x, y, z and grid x, y, z as stored
  Interner<6> place_keys_;     // process, agent, queue, stream, track, which of them are NULL
  std::vector<Place> places_;  // by index of place_keys_
  std::vector<char> wanted_;
};

}  // namespace culprit::trace::rocpd
