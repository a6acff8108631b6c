#include "store/completion_json.h"

#include <gtest/gtest.h>

namespace culprit::store {
namespace {

using base::HostTime;
using base::NamedClock;
using base::Nanos;
using base::Tokens;

TEST(CompletionJson, ReadsWhatAClientRecorded) {
  const auto c = ReadCompletion(
      R"({"clock": "CLOCK_BOOTTIME ns", "t_send": 100, "t_chunk": [150, 160, 175], "t_end": 180,
          "tokens_evaluated": 20000, "tokens_predicted": 3, "tokens": [[1], [2], [3]],
          "timings": {"cache_n": 0, "prompt_n": 20000, "prompt_ms": 1488.075, "predicted_n": 3,
                      "predicted_ms": 25.5, "predicted_per_second": 117.6}})");
  ASSERT_TRUE(c) << c.error().Text();
  EXPECT_EQ(c->clock, NamedClock::kBoottime);
  EXPECT_EQ(c->arrivals.size(), 3u);
  EXPECT_EQ(c->arrivals.back(), HostTime(Nanos(175)));
  EXPECT_EQ(c->prompt, Tokens(20000));
  EXPECT_EQ(c->generated, Tokens(3));
  EXPECT_EQ(c->timings->predicted_time, base::NanosF(25.5e6));
  EXPECT_FALSE(c->timings->draft);
}

TEST(CompletionJson, ReadsAServersAnswerAlone) {
  const auto c = ReadCompletion(
      R"({"content": "…", "timings": {"cache_n": 10, "prompt_n": 90, "prompt_ms": 4.5,
          "predicted_n": 512, "predicted_ms": 2049.167, "draft_n": 566,
          "draft_n_accepted": 322}})");
  ASSERT_TRUE(c) << c.error().Text();
  EXPECT_TRUE(c->arrivals.empty());
  EXPECT_EQ(c->prompt, Tokens(100));
  EXPECT_EQ(c->timings->steps(), base::Steps(189));
}

TEST(CompletionJson, TakesStampsSince1970ForRealtime) {
  const auto c = ReadCompletion(R"({"t_token": [1796008191037656482, 1796008191041656482]})");
  ASSERT_TRUE(c) << c.error().Text();
  EXPECT_EQ(c->clock, NamedClock::kRealtime);
  EXPECT_EQ(c->generated, Tokens(2));
}

TEST(CompletionJson, RefusesWhatMakesNoSense) {
  const auto text = [](const char* json) {
    const auto c = ReadCompletion(json);
    return c ? std::string("read") : c.error().Text();
  };
  EXPECT_EQ(text(R"({"t_chunk": [5, 4]})"), "the tokens' times of arrival run backwards");
  EXPECT_EQ(text(R"({"t_chunk": [5, "6"]})"), "\"t_chunk\" has a value that makes no sense there");
  EXPECT_EQ(text(R"({"timings": {"prompt_n": 1, "prompt_ms": -1, "predicted_n": 1,
                     "predicted_ms": 1}})"),
            "\"timings.prompt_ms\" has a value that makes no sense there");
  EXPECT_EQ(text(R"({"t_send": 18446744073709551615, "t_chunk": [1]})"),
            "\"t_send\" has a value that makes no sense there");
  EXPECT_EQ(text(R"({"t_chunk": [-1, 1]})"), "\"t_chunk\" has a value that makes no sense there");
  EXPECT_EQ(text(R"({"t_chunk": [1, 9223372036854775807]})"),
            "\"t_chunk\" has a value that makes no sense there");
  EXPECT_EQ(text(R"({"timings": {"prompt_n": 1, "prompt_ms": 1, "predicted_n": 5,
                     "predicted_ms": 1, "draft_n": 2, "draft_n_accepted": 3}})"),
            "\"timings.draft_n_accepted\" has a value that makes no sense there");
  EXPECT_EQ(text(R"({"tokens_predicted": 4, "timings": {"prompt_n": 1, "prompt_ms": 1,
                     "predicted_n": 5, "predicted_ms": 1}})"),
            "contradicts itself: tokens_predicted is 4, timings.predicted_n 5");
  EXPECT_EQ(text("[]"), "is JSON, but no object");
  EXPECT_EQ(text("{}"),
            "holds neither a request's times nor a server's timings; give the JSON answer of "
            "llama-server, or what the client recorded");
}

}  // namespace
}  // namespace culprit::store
