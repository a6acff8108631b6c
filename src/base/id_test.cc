#include "base/id.h"

#include <gtest/gtest.h>

#include <unordered_set>

namespace culprit::base {
namespace {

struct ThingTag {};
using ThingId = Id<ThingTag>;

TEST(Id, IsAPositionThatOrdersAndHashes) {
  EXPECT_EQ(ThingId().index(), 0u);
  EXPECT_EQ(ThingId(std::size_t{7}).index(), 7u);
  EXPECT_EQ(ThingId(7u), ThingId(std::size_t{7}));
  EXPECT_LT(ThingId(6u), ThingId(7u));
  const std::unordered_set<ThingId> set = {ThingId(1u), ThingId(2u), ThingId(1u)};
  EXPECT_EQ(set.size(), 2u);
}

}  // namespace
}  // namespace culprit::base
