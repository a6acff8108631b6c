#include "trace/geometry.h"

#include <algorithm>
#include <limits>

namespace culprit::trace {
namespace {

bool IsPossible(const Sizes& sizes) {
  return std::ranges::all_of(sizes, [](std::int64_t size) {
    return size >= 1 && size <= std::numeric_limits<std::uint32_t>::max();
  });
}

Dim3 ToDim3(const Sizes& sizes) {
  return {static_cast<std::uint32_t>(sizes[0]), static_cast<std::uint32_t>(sizes[1]),
          static_cast<std::uint32_t>(sizes[2])};
}

std::uint32_t Blocks(std::uint32_t work_items, std::uint32_t block) {
  return work_items / block + (work_items % block != 0 ? 1 : 0);
}

}  // namespace

Geometry MakeGeometry(const Sizes& grid, const Sizes& block) {
  if (!IsPossible(grid) || !IsPossible(block)) return {};
  return {ToDim3(grid), ToDim3(block)};
}

Geometry GridInBlocks(Geometry geometry) {
  if (!geometry.known()) return geometry;
  auto& [grid, block] = geometry;
  grid = {Blocks(grid.x, block.x), Blocks(grid.y, block.y), Blocks(grid.z, block.z)};
  return geometry;
}

}  // namespace culprit::trace
