#include "experiment/server_flags.h"

#include <gmock/gmock.h>

#include <string>

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

TEST(Uses, KnowsAnOptionByEachSpelling) {
  for (const char* flag : {"-ngl", "--gpu-layers", "--n-gpu-layers", "-ncmoe", "-ot", "-sm"}) {
    EXPECT_TRUE(Uses(Option::kPlacement, std::vector<std::string>{"-c", "8", flag, "1"})) << flag;
  }
  EXPECT_TRUE(Uses(Option::kThreads, kArguments));
  EXPECT_FALSE(Uses(Option::kSlotFiles, kArguments)) << "--slots is another flag";
  EXPECT_EQ(FlagOf(Option::kThreads, std::vector<std::string>{"--threads=3"}), "--threads");
  EXPECT_EQ(FlagOf(Option::kContext, kArguments), "");
}

TEST(Differs, LooksAtEachFlagOfAnOption) {
  const std::vector<std::string> a = {"-ctk", "q8_0"}, b = {"-ctv", "q8_0"};
  EXPECT_TRUE(Differs(Option::kKvTypes, a, b));
  EXPECT_FALSE(Differs(Option::kKvTypes, a, a));
  EXPECT_FALSE(Differs(Option::kThreads, a, b));
}

}  // namespace
}  // namespace culprit::experiment
