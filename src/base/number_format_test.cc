#include "base/number_format.h"

#include <gtest/gtest.h>

#include <limits>

namespace culprit::base {
namespace {

TEST(NumberFormat, WritesMillisecondsWithThreeDecimals) {
  EXPECT_EQ(Millis(NanosF(1.6035141e9)), "1,603.514");
  EXPECT_EQ(SignedMillis(NanosF(-1e12)), "-1,000,000.000");
  EXPECT_EQ(Millis(NanosF(1'954'800)), "1.955");
  EXPECT_EQ(Millis(NanosF(-1'954'800)), "-1.955");
  EXPECT_EQ(Millis(NanosF(0)), "0.000");
}

TEST(NumberFormat, NeverWritesANegativeZero) {
  EXPECT_EQ(Millis(NanosF(-499)), "0.000");
  EXPECT_EQ(SignedMillis(NanosF(-499)), "0.000");
  EXPECT_EQ(SignedMillis(NanosF(499)), "0.000");
  EXPECT_EQ(Micros(NanosF(-0.1)), "0.00");
  EXPECT_EQ(Percent(Fraction(-0.0004)), "0.0 %");
  EXPECT_EQ(SignedPercent(Fraction(-0.0)), "0.0 %");
  EXPECT_EQ(Plain(-0.001), "0");
}

TEST(NumberFormat, PutsASignOnEverythingButZero) {
  EXPECT_EQ(SignedMillis(NanosF(1'955'000)), "+1.955");
  EXPECT_EQ(SignedMillis(NanosF(-1'955'000)), "-1.955");
  EXPECT_EQ(SignedPercent(Fraction(0.367)), "+36.7 %");
  EXPECT_EQ(SignedPercent(Fraction(-0.018)), "-1.8 %");
}

TEST(NumberFormat, WritesLaunchesInMicrosecondsAndSharesInPercent) {
  EXPECT_EQ(Micros(NanosF(13'500)), "13.50");
  EXPECT_EQ(Percent(Fraction(0.953)), "95.3 %");
  EXPECT_EQ(Percent(Fraction(1)), "100.0 %");
}

TEST(NumberFormat, WritesChangesOfRunsInHundredthsOfAPercent) {
  EXPECT_EQ(FinePercent(Fraction(0.00794)), "0.79 %");
  EXPECT_EQ(SignedFinePercent(Fraction(0.000986)), "+0.10 %");
  EXPECT_EQ(SignedFinePercent(Fraction(-0.17671)), "-17.67 %");
  EXPECT_EQ(SignedFinePercent(Fraction(-0.00004)), "0.00 %");
}

TEST(NumberFormat, WritesACountPlainlyWhenItIsWhole) {
  EXPECT_EQ(Plain(145), "145");
  EXPECT_EQ(Plain(0.27), "0.27");
  EXPECT_EQ(Plain(99.999), "100");
  EXPECT_EQ(Plain(557.96), "558.0");
  EXPECT_EQ(Plain(-2.5), "-2.50");
}

TEST(NumberFormat, WritesSmallNumbersWithThreeDigitsThatCount) {
  EXPECT_EQ(Significant(0.00136), "0.00136");
  EXPECT_EQ(Significant(1.234e-9), "1.23e-09");
  EXPECT_EQ(Significant(0), "0");
  EXPECT_EQ(Significant(std::numeric_limits<double>::infinity()), "infinite");
  EXPECT_EQ(Significant(std::numeric_limits<double>::quiet_NaN()), "unknown");
  EXPECT_EQ(NearOne(0.999321), "0.99932");
}

TEST(NumberFormat, GroupsDigitsByThree) {
  EXPECT_EQ(Grouped(0), "0");
  EXPECT_EQ(Grouped(999), "999");
  EXPECT_EQ(Grouped(1'000), "1,000");
  EXPECT_EQ(Grouped(3'300'000), "3,300,000");
  EXPECT_EQ(Grouped(-999), "-999");
  EXPECT_EQ(Grouped(-100'000), "-100,000");
  EXPECT_EQ(Grouped(std::numeric_limits<std::int64_t>::min()), "-9,223,372,036,854,775,808");
}

TEST(NumberFormat, ChoosesAUnitForAStretchOfTime) {
  EXPECT_EQ(Seconds(Nanos(1'871'374'000)), "1.871 s");
  EXPECT_EQ(Seconds(Nanos(35'200'000)), "35.2 ms");
  EXPECT_EQ(Seconds(Nanos(4'900)), "4.9 µs");
  EXPECT_EQ(Seconds(Nanos(860)), "860 ns");
  EXPECT_EQ(Seconds(Nanos(0)), "0 ns");
  EXPECT_EQ(Seconds(Nanos(-4'900)), "-4.9 µs");
}

TEST(NumberFormat, ChoosesTheUnitAfterRounding) {
  EXPECT_EQ(Seconds(Nanos(999)), "999 ns");
  EXPECT_EQ(Seconds(Nanos(999'949)), "999.9 µs");
  EXPECT_EQ(Seconds(Nanos(999'950)), "1.0 ms");
  EXPECT_EQ(Seconds(Nanos(999'949'999)), "999.9 ms");
  EXPECT_EQ(Seconds(Nanos(999'950'000)), "1.000 s");
}

TEST(NumberFormat, WritesAnEstimateOfTime) {
  using std::chrono::seconds;
  EXPECT_EQ(Roughly(Nanos(0)), "0 s");
  EXPECT_EQ(Roughly(seconds(99)), "99 s");
  EXPECT_EQ(Roughly(seconds(100)), "2 min");
  EXPECT_EQ(Roughly(seconds(98 * 60)), "98 min");
  EXPECT_EQ(Roughly(seconds(3 * 3600)), "3 h");
}

TEST(NumberFormat, WritesSizesForPeople) {
  EXPECT_EQ(Bytes(640), "640 bytes");
  EXPECT_EQ(Bytes(37 * 1024), "37.0 KiB");
  EXPECT_EQ(Bytes(1024 * 1024 - 1), "1.0 MiB");
  EXPECT_EQ(Bytes(100 << 20), "100.0 MiB");
  EXPECT_EQ(Bytes(std::uint64_t{3} << 29), "1.5 GiB");
}

TEST(NumberFormat, WritesACostAsARate) {
  EXPECT_EQ(Rate(NanosF(1e9 / 64.14)), "64.14");
  EXPECT_EQ(Rate(NanosF(1000)), "1,000,000.00");
}

}  // namespace
}  // namespace culprit::base
