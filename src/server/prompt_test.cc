#include "server/prompt.h"

#include <gmock/gmock.h>

#include "server/fake_server.h"

namespace culprit::server {
namespace {

using base::ErrorCode;
using base::Tokens;
using testing::HasSubstr;

// Long words: a cut inside one changes how the rest of it is split.
std::string Prose(int sentences) {
  std::string text;
  for (int i = 0; i < sentences; ++i) {
    text += "Measurements of interleaved executions, number " + std::to_string(i) +
            ", contradict impressions. ";
  }
  return text;
}

class PromptTest : public FakeServerTest {};

TEST_F(PromptTest, IsExactInBothEndpoints) {
  const auto server = StartHealthy(Fake());
  const Client client(server.url());
  for (const Endpoint endpoint : {Endpoint::kChat, Endpoint::kCompletion}) {
    for (const std::int64_t wanted : {40, 101, 500}) {
      const auto prompt = MakeExactPrompt(client, endpoint, Prose(60), Tokens(wanted), never_);
      ASSERT_TRUE(prompt) << prompt.error().Text();
      EXPECT_EQ(prompt->tokens, Tokens(wanted));
      EXPECT_EQ(prompt->copies, 1);
      EXPECT_LE(prompt->requests, 5);
      const auto answer = client.Complete({.endpoint = endpoint, .prompt = prompt->text}, never_);
      EXPECT_EQ(answer->prompt, Tokens(wanted));
    }
  }
}

TEST_F(PromptTest, RepeatsATextThatIsTooShort) {
  const auto server = StartHealthy(Fake());
  const auto prompt =
      MakeExactPrompt(Client(server.url()), Endpoint::kChat, Prose(2), Tokens(400), never_);
  ASSERT_TRUE(prompt) << prompt.error().Text();
  EXPECT_GT(prompt->copies, 5);
  EXPECT_THAT(prompt->text, HasSubstr("\n\nPart 2\n\nMeasurements"));
}

TEST_F(PromptTest, SaysWhatCannotBe) {
  const auto server = StartHealthy(Fake());
  const Client client(server.url());
  const auto error = [&](std::string_view text, std::int64_t wanted) {
    const auto prompt = MakeExactPrompt(client, Endpoint::kChat, text, Tokens(wanted), never_);
    return prompt ? base::Error{ErrorCode::kServer, "was made"} : prompt.error();
  };
  EXPECT_EQ(error("words", 0).message, "no prompt has 0 tokens");
  EXPECT_EQ(error("", 100).message, "the text for the prompt has no tokens");
  EXPECT_THAT(error(Prose(5), 3).message, HasSubstr("3 tokens are fewer than a prompt needs here"));
  EXPECT_EQ(error(Prose(5), 3).code, ErrorCode::kUsage);
}

TEST(PromptFingerprint, ChangesWithModelAndTemplate) {
  const auto of = [](const char* model, const char* chat_template) {
    Props props;
    props.chat_template = chat_template;
    return PromptFingerprint(model, props);
  };
  EXPECT_EQ(of("a", "t"), of("a", "t"));
  EXPECT_NE(of("a", "t"), of("b", "t"));
  EXPECT_NE(of("a", "t"), of("a", "u"));
}

}  // namespace
}  // namespace culprit::server
