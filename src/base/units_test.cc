#include "base/units.h"

#include <gtest/gtest.h>

#include <concepts>
#include <type_traits>

#include "base/id.h"

namespace culprit::base {
namespace {

template <typename A, typename B>
concept Subtracts = requires(A a, B b) {
  a - b;
};
template <typename A, typename B>
concept Adds = requires(A a, B b) {
  a + b;
};
template <typename A, typename B>
concept Divides = requires(A a, B b) {
  a / b;
};
template <typename A, typename B>
concept Compares = requires(A a, B b) {
  a < b;
};

// Instants know their clock.
static_assert(Subtracts<TraceTime, TraceTime>);
static_assert(!Subtracts<TraceTime, HostTime>);
static_assert(!Subtracts<HostTime, TraceTime>);
static_assert(!Adds<TraceTime, TraceTime>);
static_assert(!Compares<TraceTime, HostTime>);
static_assert(!std::convertible_to<HostTime, TraceTime>);
static_assert(!std::convertible_to<std::int64_t, TraceTime>);

// A duration becomes exact or divided once, and never goes back.
static_assert(std::convertible_to<Nanos, NanosF>);
static_assert(!std::convertible_to<NanosF, Nanos>);
static_assert(!std::convertible_to<double, NanosF>);

// PerToken comes from Nanos / Tokens alone.
static_assert(std::same_as<decltype(Nanos() / Tokens()), PerToken>);
static_assert(std::same_as<decltype(Nanos() / Steps()), PerStep>);
static_assert(!Divides<PerToken, Tokens>);
static_assert(!Divides<PerStep, Tokens>);
static_assert(!Divides<NanosF, Tokens>);
static_assert(!Subtracts<PerToken, PerStep>);
static_assert(!Compares<PerToken, PerStep>);
static_assert(!std::convertible_to<NanosF, PerToken>);

// Counts of different things do not mix, with each other or with numbers.
static_assert(!Adds<Tokens, Steps>);
static_assert(!Compares<Tokens, Steps>);
static_assert(!std::convertible_to<int, Tokens>);
static_assert(!std::convertible_to<Tokens, std::int64_t>);

static_assert(!std::convertible_to<double, Fraction>);
static_assert(!std::convertible_to<Fraction, double>);

struct ThisTag {};
struct ThatTag {};
static_assert(!std::convertible_to<Id<ThisTag>, Id<ThatTag>>);
static_assert(!std::convertible_to<std::size_t, Id<ThisTag>>);
static_assert(!Compares<Id<ThisTag>, Id<ThatTag>>);

TEST(Units, DivideADurationByTokensAndBySteps) {
  EXPECT_EQ((Nanos(1'871'374'000) / Tokens(511)).millis(), 1871.374 / 511);
  EXPECT_EQ((Nanos(9) / Steps(2)).value(), NanosF(4.5));
}

TEST(Units, AddAndNegateWhatIsPerToken) {
  const PerToken a = Nanos(30) / Tokens(10);
  const PerToken b = Nanos(10) / Tokens(10);
  EXPECT_EQ(a + b, PerToken(NanosF(4)));
  EXPECT_EQ(b - a, -(a - b));
  EXPECT_LT(b, a);
}

TEST(UnitsDeathTest, RefuseToDivideByNothing) {
  EXPECT_DEATH(Nanos(1) / Tokens(0), "Count\\(tokens\\) > 0");
  EXPECT_DEATH(Nanos(1) / Steps(-1), "Count\\(steps\\) > 0");
}

}  // namespace
}  // namespace culprit::base
