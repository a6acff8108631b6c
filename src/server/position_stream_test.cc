#include "server/position_stream.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include "sys/text_file.h"

namespace culprit::server {
namespace {

using base::ErrorCode;
using testing::HasSubstr;

base::Result<PositionAnswer> Read(std::string_view text, std::size_t piece = 1 << 20) {
  PositionStream stream;
  for (std::size_t at = 0; at < text.size(); at += piece) {
    if (auto fed = stream.Feed(text.substr(at, piece)); !fed) return base::Fail(fed.error());
  }
  return stream.Finish();
}

// An answer with these entries in its list.
std::string Answer(const std::string& entries) {
  return R"({"content":"a","tokens":[7],"completion_probabilities":[{"id":7,"token":"a",)"
         R"("logprob":-0.5,"top_logprobs":[)" +
         entries + R"(]}],"timings":{"id":3,"logprob":null}})";
}

// The answer of Debian's 0.7.0 to a request for all of 408 tokens.
TEST(PositionStream, ReadsARecordedAnswerInPiecesOfAnySize) {
  const auto text =
      sys::ReadText(CULPRIT_SOURCE_DIR "/tests/fixtures/llama-server-0.7.0/position.json").value();
  const auto whole = Read(text);
  ASSERT_TRUE(whole) << whole.error().Text();
  EXPECT_EQ(whole->listed.size(), 408u);
  EXPECT_EQ(whole->sampled, whole->listed.front().token);
  double sum = 0;
  for (const auto& each : whole->listed) sum += std::exp(each.logprob);
  EXPECT_NEAR(sum, 1, 1e-5);
  for (const std::size_t piece : {1u, 2u, 3u, 7u, 64u, 1000u}) {
    const auto same = Read(text, piece);
    ASSERT_TRUE(same) << piece;
    EXPECT_EQ(same->listed, whole->listed) << piece;
  }
}

TEST(PositionStream, AnAnswerThatIsCutOffIsAnError) {
  const auto text = Answer(R"({"id":7,"token":"\"}","bytes":[1],"logprob":-1.5e-3})");
  ASSERT_TRUE(Read(text));
  for (std::size_t size = 0; size < text.size(); ++size) {
    const auto part = Read(std::string_view(text).substr(0, size));
    ASSERT_FALSE(part) << size;
    EXPECT_EQ(part.error().code, ErrorCode::kServer);
  }
}

TEST(PositionStream, KeysAreFoundWhereTheyBelong) {
  const auto answer =
      Read(Answer(R"({"bytes":[{"id":9,"logprob":-9}],"id":7,"token":"{\"id\":8",)"
                  R"("logprob":-2},{"logprob":null,"id":4},{"id":5,"logprob":-3})"));
  ASSERT_TRUE(answer) << answer.error().Text();
  ASSERT_EQ(answer->listed.size(), 3u);
  EXPECT_EQ(answer->listed[0], (TokenLogprob{7, -2}));
  EXPECT_EQ(answer->listed[1].token, 4);
  EXPECT_TRUE(std::isnan(answer->listed[1].logprob));
  EXPECT_EQ(answer->listed[2], (TokenLogprob{5, -3}));
}

TEST(PositionStream, WhatStandsInTheBytesOfATextDoesNotMatter) {
  const auto entry = [](const std::string& bytes) {
    return Answer(R"({"id":7,"bytes":)" + bytes + R"(,"logprob":-2})");
  };
  for (const char* bytes : {"[]", "[1]", "[10,255,3]", "[ 1 , -2.5e3,\nnull ]", "[[3,4],5]",
                            "[[[]]]", R"([{"id":9,"logprob":-1},6,"]",{}])"}) {
    for (const std::size_t piece : {1u, 2u, 3u, 5u, 1000u}) {
      const auto answer = Read(entry(bytes), piece);
      ASSERT_TRUE(answer) << bytes << " in pieces of " << piece;
      EXPECT_EQ(answer->listed, (std::vector<TokenLogprob>{{7, -2}})) << bytes;
    }
  }
  for (const char* bytes : {"[1", "[1}", "[1,]", "[,]", "[1,2", "[\"1]", "[[1]", "[1]]", "[1:2]"}) {
    for (const std::size_t piece : {1u, 2u, 3u, 5u, 1000u}) {
      EXPECT_FALSE(Read(entry(bytes), piece)) << bytes << " in pieces of " << piece;
    }
  }
}

TEST(PositionStream, AnErrorInAnAnswerOfStatus200IsToldInItsOwnWords) {
  EXPECT_EQ(Read(R"({"error":{"code":500,"message":"Compute error."}})").error().message,
            "llama-server says: Compute error.");
}

TEST(PositionStream, WhatMakesNoSenseIsAnError) {
  const auto message = [](const std::string& text) {
    const auto answer = Read(text);
    return answer ? "none" : answer.error().message;
  };
  const std::string none = "llama-server answered with no JSON";
  for (const char* text : {"", "<html>", "{]", "{\"a\" 1}", "[1,]", "{,}", "[1 2]", "nul", "1.2.3",
                           "{\"a\":\"\\\"}", "[1]]", "\x00\xff\x1b[31m"}) {
    EXPECT_EQ(message(text), none) << text;
  }
  EXPECT_THAT(message("{}"), HasSubstr("without log-probabilities"));
  EXPECT_THAT(message(R"({"completion_probabilities":[]})"), HasSubstr("without log-prob"));
  EXPECT_THAT(message(R"({"completion_probabilities":[{"probs":[{"tok_str":"a","prob":1}]}]})"),
              HasSubstr("before December 2024"));
  EXPECT_THAT(message(R"({"completion_probabilities":[{"id":1},{"id":2}]})"),
              HasSubstr("several positions"));
  for (const char* entry : {"{}", R"({"id":7})", R"({"logprob":-1})", R"({"id":"a","logprob":-1})",
                            R"({"id":1.5,"logprob":-1})", R"({"id":99999999999,"logprob":-1})",
                            R"({"id":null,"logprob":-1})", R"({"id":1,"logprob":"-1"})"}) {
    EXPECT_THAT(message(Answer(entry)), HasSubstr("without its number")) << entry;
  }
  EXPECT_THAT(message(std::string(200, '[')), HasSubstr("nests too deeply"));
  EXPECT_THAT(message(std::string(1 << 17, '[')), HasSubstr("nests too deeply"));
  EXPECT_THAT(message(std::string(1 << 17, '1')), HasSubstr("no JSON"));
}

// Each answer is one, or an error of the server: nothing else comes of any bytes.
TEST(PositionStream, DamagedAnswersAreAnswersOrErrors) {
  const auto text =
      sys::ReadText(CULPRIT_SOURCE_DIR "/tests/fixtures/llama-server-0.7.0/position.json").value();
  std::mt19937 random(1);
  const auto below = [&random](std::size_t limit) { return random() % limit; };
  constexpr std::string_view kBytes = "{}[]\",:\\0-1e.nul\xff";
  int answers = 0;
  for (int i = 0; i < 300; ++i) {
    std::string damaged = text.substr(below(20) == 0 ? below(text.size()) : 0);
    for (std::size_t k = below(4); k > 0; --k) {
      damaged[below(damaged.size())] = kBytes[below(kBytes.size())];
    }
    const auto answer = Read(damaged, 1 + below(5'000));
    answers += answer ? 1 : 0;
    EXPECT_TRUE(answer || answer.error().code == ErrorCode::kServer) << i;
    EXPECT_TRUE(!answer || answer->listed.size() <= 408) << i;
  }
  EXPECT_GT(answers, 50);
  EXPECT_LT(answers, 300);
}

TEST(PositionStream, AVocabularyOf250000NeedsNoMemoryForItsText) {
  PositionStream stream;
  const auto feed = [&stream](const std::string& text) { EXPECT_TRUE(stream.Feed(text)); };
  const std::string head = Answer("");
  const auto at = head.find("]}],\"timings");
  feed(head.substr(0, at));
  for (int i = 0; i < 250'000; ++i) {
    feed((i > 0 ? "," : "") + std::string(R"({"id":)") + std::to_string(i) +
         R"(,"token":"\u0020word","bytes":[32,119,111,114,100],"logprob":-12.42921619})");
  }
  feed(head.substr(at));
  const auto answer = stream.Finish();
  ASSERT_TRUE(answer) << answer.error().Text();
  EXPECT_EQ(answer->listed.size(), 250'000u);
  EXPECT_EQ(answer->listed.back(), (TokenLogprob{249'999, -12.42921619}));
}

}  // namespace
}  // namespace culprit::server
