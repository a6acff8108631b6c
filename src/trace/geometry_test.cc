#include "trace/geometry.h"

#include <gtest/gtest.h>

namespace culprit::trace {
namespace {

constexpr std::int64_t kLargest = 4294967295;

TEST(Geometry, IsUnknownWithASizeThatNoLaunchCanHave) {
  EXPECT_EQ(MakeGeometry({kLargest, 1, 2}, {256, 3, 1}),
            (Geometry{{4294967295u, 1, 2}, {256, 3, 1}}));
  for (const std::int64_t size : {std::int64_t{0}, std::int64_t{-1}, kLargest + 1}) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      Sizes sizes = {1, 1, 1};
      sizes[axis] = size;
      EXPECT_EQ(MakeGeometry(sizes, {1, 1, 1}), Geometry()) << size << " on axis " << axis;
      EXPECT_EQ(MakeGeometry({1, 1, 1}, sizes), Geometry()) << size << " on axis " << axis;
    }
  }
}

TEST(Geometry, CountsAPartialBlockAsABlock) {
  EXPECT_EQ(GridInBlocks({{512, 7, 1}, {256, 2, 64}}), (Geometry{{2, 4, 1}, {256, 2, 64}}));
  EXPECT_EQ(GridInBlocks({{4294967295u, 1, 1}, {2, 1, 1}}).grid.x, 2147483648u);
  EXPECT_EQ(GridInBlocks({}), Geometry());
}

}  // namespace
}  // namespace culprit::trace
