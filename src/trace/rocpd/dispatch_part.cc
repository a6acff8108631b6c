#include "trace/rocpd/dispatch_part.h"

namespace culprit::trace::rocpd {
namespace {

constexpr std::array<std::string_view, DispatchColumns::kFields> kNames = {"start",
                                                                           "end",
                                                                           "kernel_id",
                                                                           "dispatch_id",
                                                                           "pid",
                                                                           "agent_id",
                                                                           "queue_id",
                                                                           "stream_id",
                                                                           "track_id",
                                                                           "workgroup_size_x",
                                                                           "workgroup_size_y",
                                                                           "workgroup_size_z",
                                                                           "grid_size_x",
                                                                           "grid_size_y",
                                                                           "grid_size_z"};

}  // namespace

base::Result<DispatchColumns> DispatchColumns::Of(const IdSpace& space) {
  DispatchColumns columns;
  columns.place_.fill(kAbsent);
  for (std::size_t field = 0; field < kFields; ++field) {
    if (!space.Has("kernel_dispatch", kNames[field])) continue;
    columns.place_[field] = columns.names_.size();
    columns.names_.emplace_back(kNames[field]);
  }
  for (const Field field : {kStart, kEnd, kKernel}) {
    if (columns.place_[field] == kAbsent) {
      return base::Fail(base::ErrorCode::kDamagedTrace,
                        "the dispatch table has no column \"" + std::string(kNames[field]) + "\"",
                        "", "a newer profiler may have changed its format");
    }
  }
  return columns;
}

void DispatchPart::Add(const sys::IntegerRow& row) {
  const std::uint32_t place = PlaceIndex(row);
  if (wanted_[place] == 0) return;
  if (size_ % kBlockRows == 0) {
    Block& fresh = blocks_.emplace_back();
    for (auto* column : {&fresh.start, &fresh.end, &fresh.dispatch_id}) column->reserve(kBlockRows);
    for (auto* column : {&fresh.kernel, &fresh.geometry, &fresh.place}) column->reserve(kBlockRows);
  }
  ++size_;
  using enum DispatchColumns::Field;
  Block& block = blocks_.back();
  block.start.push_back(columns_.Int(row, kStart));
  block.end.push_back(columns_.Int(row, kEnd));
  block.dispatch_id.push_back(columns_.IsNull(row, kDispatch) ? kNoDispatchId
                                                              : columns_.Int(row, kDispatch));
  block.kernel.push_back(kernels_.Index({columns_.Int(row, kKernel)}));
  block.geometry.push_back(geometries_.Index(
      {columns_.Int(row, kBlockX), columns_.Int(row, kBlockY), columns_.Int(row, kBlockZ),
       columns_.Int(row, kGridX), columns_.Int(row, kGridY), columns_.Int(row, kGridZ)}));
  block.place.push_back(place);
}

std::uint32_t DispatchPart::PlaceIndex(const sys::IntegerRow& row) {
  using enum DispatchColumns::Field;
  Interner<6>::Key key{};
  std::size_t word = 0;
  for (const auto field : {kProcess, kAgent, kQueue, kStream, kTrack}) {
    key[word] = columns_.Int(row, field);
    key[5] |= std::int64_t{columns_.IsNull(row, field)} << word;
    ++word;
  }
  const std::uint32_t index = place_keys_.Index(key);
  if (index < places_.size()) return index;
  const auto value = [&](std::size_t i) {
    return (key[5] >> i & 1) != 0 ? std::nullopt : std::optional(key[i]);
  };
  Place place{value(0), value(1), value(2), value(3)};
  // Schema 4 says where by a track.
  if (const auto track = lookups_->tracks.find(key[4]); value(4) && track != lookups_->tracks.end())
    place = track->second;
  places_.push_back(place);
  const bool wanted = !only_pid_ || lookups_->Pid(place.process) == only_pid_;
  wanted_.push_back(wanted ? 1 : 0);
  return index;
}

Geometry DispatchPart::geometry(std::size_t index) const {
  const auto& size = geometries_.keys()[index];
  return GridInBlocks(MakeGeometry({size[3], size[4], size[5]}, {size[0], size[1], size[2]}));
}

}  // namespace culprit::trace::rocpd
