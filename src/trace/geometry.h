#pragma once

#include <array>
#include <compare>
#include <cstdint>

namespace culprit::trace {

// Dim3 counts in x, y and z.
struct Dim3 {
  std::uint32_t x = 0, y = 0, z = 0;
  auto operator<=>(const Dim3&) const = default;
};

// Geometry is the launch shape: blocks (workgroups) in the grid and threads (work-items) in a
// block. Unknown is a default Geometry, whose block.x is 0.
struct Geometry {
  Dim3 grid;
  Dim3 block;
  [[nodiscard]] bool known() const { return block.x > 0; }
  auto operator<=>(const Geometry&) const = default;
};

// Sizes are x, y and z as a file has them: any integers.
using Sizes = std::array<std::int64_t, 3>;

// MakeGeometry is unknown when a size is one that no launch can have: below 1 or over 32 bits.
Geometry MakeGeometry(const Sizes& grid, const Sizes& block);

// GridInBlocks converts a geometry whose grid counts work-items, as AMD's tools write it; the last
// block may be partial. What is unknown stays unknown.
Geometry GridInBlocks(Geometry geometry);

}  // namespace culprit::trace
