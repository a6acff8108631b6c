#include "base/parse_number.h"

#include <gtest/gtest.h>

namespace culprit::base {
namespace {

TEST(ParseNumber, TakesTheWholeTextOrNothing) {
  EXPECT_EQ(ParseNumber("-17"), -17);
  EXPECT_EQ(ParseNumber<double>("0.5"), 0.5);
  for (const char* text : {"", " 1", "1 ", "+1", "0x1", "1.5", "9223372036854775808"}) {
    EXPECT_EQ(ParseNumber(text), std::nullopt) << text;
  }
  EXPECT_EQ(ParseNumber<std::uint8_t>("256"), std::nullopt);
  EXPECT_EQ(ParseNumber<unsigned>("-1"), std::nullopt);
}

}  // namespace
}  // namespace culprit::base
