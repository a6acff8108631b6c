#include "experiment/server_flags.h"

#include <gmock/gmock.h>

#include <array>

namespace culprit::experiment {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::vector<std::string> kArguments = {"-t", "2", "--slots=x", "-tt", "--slots", "y", "-t"};

TEST(FlagValues, AreThoseOfBothSpellings) {
  EXPECT_THAT(FlagValues(kArguments, "-t"), ElementsAre("2", ""));
  EXPECT_THAT(FlagValues(kArguments, "--slots"), ElementsAre("x", "y"));
  EXPECT_THAT(FlagValues(kArguments, "--slot"), IsEmpty());
}

TEST(UsesAny, LooksForWholeFlags) {
  const std::array<std::string_view, 2> there = {"-x", "--slots"}, absent = {"-x", "--slot"};
  EXPECT_TRUE(UsesAny(kArguments, there));
  EXPECT_FALSE(UsesAny(kArguments, absent));
}

}  // namespace
}  // namespace culprit::experiment
