#include "server/log.h"

#include <gtest/gtest.h>

namespace culprit::server {
namespace {

using base::Steps;
using base::Tokens;

// Lines of llama.cpp 0.7.0 with a draft model.
TEST(ServerLog, ReadsTheOneLineFormatWithDraftCounters) {
  const auto log = ParseLog(
      "0.01.377.604 I print_info: n_expert              = 128\n"
      "0.01.377.604 I print_info: n_expert_used         = 8\n"
      "0.01.377.615 I print_info: n_vocab               = 151936\n"
      "0.04.023.400 I print_info: n_vocab               = 32000\n"
      "0.09.048.219 I slot print_timing: id  0 | task 0 | prompt eval time =    1599.98 ms / 20000 "
      "tokens (    0.08 ms per token, 12500.16 tokens per second)\n"
      "0.09.048.223 I slot print_timing: id  0 | task 0 |        eval time =    2049.17 ms /   512 "
      "tokens (    4.01 ms per token,   249.37 tokens per second)\n"
      "0.09.048.230 I slot print_timing: id  0 | task 0 | draft acceptance = 0.56890 (  322 "
      "accepted /   566 generated), mean len =  2.70\n");
  ASSERT_EQ(log.requests.size(), 1u);
  EXPECT_EQ(log.requests[0].prompt, Tokens(20000));
  EXPECT_EQ(log.requests[0].prompt_time, base::NanosF(1599.98e6));
  EXPECT_EQ(log.requests[0].predicted, Tokens(512));
  EXPECT_EQ(log.requests[0].predicted_time, base::NanosF(2049.17e6));
  EXPECT_EQ(log.requests[0].steps(), Steps(189));
  EXPECT_EQ(log.vocabulary, 151936) << "the first model is the target";
  EXPECT_EQ(log.experts_used, 8);
}

// Lines of a build of 2026-05: three lines after print_timing, no prefix.
TEST(ServerLog, ReadsTheThreeLineFormatOfOlderBuilds) {
  const auto log = ParseLog(
      "build_info: b1-e77056f\n"
      "slot print_timing: id  0 | task 0 | \n"
      "prompt eval time =     141.53 ms /    24 tokens (    5.90 ms per token,   169.58 tokens per "
      "second)\n"
      "       eval time =    2393.53 ms /   128 tokens (   18.70 ms per token,    53.48 tokens per "
      "second)\n"
      "      total time =    2535.06 ms /   152 tokens\n"
      "draft acceptance rate = 0.97000 (   97 accepted /   100 generated)\n");
  ASSERT_EQ(log.requests.size(), 1u);
  EXPECT_EQ(log.requests[0].predicted, Tokens(128));
  EXPECT_EQ(log.requests[0].steps(), Steps(30));
  EXPECT_EQ(log.build, "b1-e77056f");
}

TEST(ServerLog, LeavesOutABlockThatBreaksOff) {
  EXPECT_TRUE(ParseLog("prompt eval time = 1.0 ms / 2 tokens (").requests.empty());
  EXPECT_TRUE(ParseLog("eval time = 1.0 ms / 2 tokens (").requests.empty());
  EXPECT_TRUE(ParseLog("prompt eval time = nan ms / 2 tokens\neval time = 1 ms / 3 tokens")
                  .requests.empty());
}

TEST(ServerLog, LeavesOutWhatNoRequestCanTake) {
  for (const char* line : {"eval time = 1e300 ms / 3 tokens", "eval time = -1 ms / 3 tokens",
                           "eval time = 1 ms / 9223372036854775807 tokens"}) {
    const auto log = ParseLog(std::string("prompt eval time = 1 ms / 2 tokens\n") + line);
    EXPECT_TRUE(log.requests.empty()) << line;
  }
}

}  // namespace
}  // namespace culprit::server
