#include "gate/second_opinion.h"

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

namespace culprit::gate {
namespace {

using base::ErrorCode;
using testing::HasSubstr;

// Debian's 0.7.0: a q4_0 cache beside an f16 one, 4 chunks of 512 tokens.
std::string Recorded() {
  std::ifstream file(CULPRIT_SOURCE_DIR "/tests/fixtures/llama-perplexity-0.7.0/kl_divergence.txt");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string Replaced(std::string text, std::string_view what, std::string_view with) {
  return text.replace(text.find(what), what.size(), with);
}

TEST(SecondOpinion, ReadsWhatTheToolWrites) {
  const auto opinion = ParsePerplexity(Recorded());
  ASSERT_TRUE(opinion) << opinion.error().Text();
  EXPECT_EQ(*opinion, (SecondOpinion{.chunks = 4,
                                     .perplexity = {1014059.706071, 133048.930791},
                                     .kl = {0.006832, 0.000516},
                                     .same_top = {98.137 / 100, 0.424 / 100},
                                     .rms_delta = {0.734 / 100, 0.192 / 100},
                                     .kl_median = 0.000566,
                                     .kl_p99 = 0.080001,
                                     .kl_worst = 0.151475}));
}

TEST(SecondOpinion, PositionsAreTheSecondHalvesOfItsChunks) {
  EXPECT_EQ((SecondOpinion{.chunks = 4, .context = base::Tokens(512)}.positions()), 4 * 255);
}

// The last number is that of "Same top p", and what stands behind it does not count.
TEST(SecondOpinion, AnAnswerThatIsCutOffIsAnError) {
  const std::string text = Recorded();
  const auto end = text.find('\n', text.find("Same top p:")) + 1;
  ASSERT_TRUE(ParsePerplexity(text.substr(0, end)));
  for (std::size_t size = 0; size < end; ++size) {
    const auto part = ParsePerplexity(text.substr(0, size));
    ASSERT_FALSE(part) << size;
    EXPECT_EQ(part.error().code, ErrorCode::kServer);
    EXPECT_THAT(part.error().message, HasSubstr("ends before its \""));
  }
}

TEST(SecondOpinion, WhatIsNoNumberIsAnError) {
  for (const char* value : {"nan", "-nan", "inf"}) {
    const auto opinion = ParsePerplexity(Replaced(Recorded(), "0.006832", value));
    ASSERT_FALSE(opinion);
    EXPECT_EQ(opinion.error().message, "llama-perplexity's \"Mean KLD\" is no number");
  }
  EXPECT_FALSE(ParsePerplexity(Replaced(Recorded(), "0.151475", "much")));
  EXPECT_FALSE(ParsePerplexity(Replaced(Recorded(), "0.006832 ±", "0.006832 +")));
}

}  // namespace
}  // namespace culprit::gate
