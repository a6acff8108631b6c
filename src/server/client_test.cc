#include "server/client.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "server/answer_stream.h"
#include "server/fake_server.h"
#include "sys/test_server.h"
#include "sys/text_file.h"

namespace culprit::server {
namespace {

using base::ErrorCode;
using base::Tokens;
using sys::TestServer;

class ClientTest : public FakeServerTest {};

TEST_F(ClientTest, StreamsAChat) {
  const auto server = StartHealthy(Fake({{"FAKE_DRAFT", "0.7"}}));
  const Client client(server.url());
  const CompletionRequest request{.prompt = "Tell me of tokens.", .most = Tokens(40)};
  const auto answer = client.Complete(request, never_);
  ASSERT_TRUE(answer) << answer.error().Text();
  EXPECT_EQ(answer->generated, Tokens(40));
  EXPECT_EQ(answer->arrivals.size(), 40u);
  EXPECT_TRUE(std::is_sorted(answer->arrivals.begin(), answer->arrivals.end()));
  EXPECT_EQ(answer->clock, base::NamedClock::kBoottime);
  EXPECT_LE(*answer->sent, answer->arrivals.front());
  EXPECT_GE(*answer->ended, answer->arrivals.back());
  EXPECT_EQ(answer->finish_reason, "length");
  EXPECT_EQ(answer->timings->predicted, Tokens(40));
  EXPECT_EQ(answer->timings->cached, Tokens(0));
  EXPECT_EQ(base::Count(answer->timings->prompt), base::Count(answer->prompt));
  EXPECT_TRUE(answer->timings->draft);
  EXPECT_EQ(client.Complete(request, never_)->text, answer->text);
}

TEST_F(ClientTest, ContinuesTextAndTokens) {
  const auto server = StartHealthy(Fake());
  const Client client(server.url());
  const auto ids = client.Tokenize("one two", true, never_);
  ASSERT_TRUE(ids) << ids.error().Text();
  EXPECT_EQ(ids->size(), 3u);
  EXPECT_EQ(client.Detokenize(*ids, never_), "one two");
  CompletionRequest request{.endpoint = Endpoint::kCompletion, .prompt = "one two"};
  request.most = Tokens(5);
  const auto text = client.Complete(request, never_);
  ASSERT_TRUE(text) << text.error().Text();
  request.prompt = *ids;
  const auto tokens = client.Complete(request, never_);
  ASSERT_TRUE(tokens) << tokens.error().Text();
  EXPECT_EQ(tokens->text, text->text);
  EXPECT_EQ(tokens->prompt, Tokens(3));
  EXPECT_EQ(tokens->token_ids.size(), 5u);
  EXPECT_EQ(tokens->finish_reason, "length");
}

TEST_F(ClientTest, ReadsWhatTheServerSaysOfItself) {
  const auto server = StartHealthy(Fake({}, {"-c", "8192"}));
  const auto props = Client(server.url()).GetProps(never_);
  ASSERT_TRUE(props) << props.error().Text();
  EXPECT_EQ(props->build, "b11669-fake");
  EXPECT_EQ(props->context, Tokens(8192));
  EXPECT_EQ(props->slots, 1);
  EXPECT_EQ(props->chat_template, "<|user|>\n{{ content }}\n<|assistant|>\n");
}

TEST_F(ClientTest, KeepsASlotOnDisk) {
  const auto server = StartHealthy(Fake({}, {"--slot-save-path", folder_.path()}));
  const Client client(server.url());
  CompletionRequest request{.prompt = "a long prompt", .cache_prompt = true};
  const auto prompt = client.Complete(request, never_)->prompt;
  EXPECT_EQ(client.SaveSlot(0, "warm.bin", never_), prompt);
  EXPECT_EQ(client.RestoreSlot(0, "warm.bin", never_), prompt);
  const auto warm = client.Complete(request, never_);
  EXPECT_EQ(warm->timings->cached, Tokens(base::Count(prompt) - 1));
}

TEST_F(ClientTest, PassesTheServersRefusalOn) {
  const auto server = StartHealthy(Fake({{"FAKE_FAULT", "error-json"}}));
  const Client client(server.url());
  EXPECT_EQ(client.Complete({.prompt = "x"}, never_).error().Text(),
            "/v1/chat/completions: llama-server says: the fake refuses");
  EXPECT_EQ(client.SaveSlot(0, "x", never_).error().Text(),
            "/slots/0?action=save: llama-server says: This server does not support slots action. "
            "Start it with `--slot-save-path`");
}

TEST_F(ClientTest, AnErrorOrGarbageInTheStreamEndsTheRequest) {
  const auto erring = StartHealthy(Fake({{"FAKE_FAULT", "error-event"}}));
  EXPECT_EQ(Client(erring.url()).Complete({.prompt = "x"}, never_).error().message,
            "llama-server says: Compute error.");
  const auto raving = StartHealthy(Fake({{"FAKE_FAULT", "garbage-sse"}}));
  EXPECT_THAT(Client(raving.url()).Complete({.prompt = "x"}, never_).error().message,
              testing::StartsWith("llama-server streamed what is no JSON: \\x00"));
}

TEST_F(ClientTest, CountsThatAreNotAsWantedAreSeen) {
  const CompletionRequest request{.prompt = "x", .most = Tokens(8)};
  const auto of = [&](const char* fault) {
    const auto server = StartHealthy(Fake({{"FAKE_FAULT", fault}}));
    return Client(server.url()).Complete(request, never_).value();
  };
  const auto early = of("stop-early");
  EXPECT_EQ(early.generated, Tokens(4));
  EXPECT_EQ(early.finish_reason, "stop");
  EXPECT_EQ(of("cached").timings->cached, Tokens(1));
  EXPECT_EQ(base::Count(of("wrong-prompt-count").prompt), base::Count(early.prompt) + 1);
}

constexpr std::int64_t kVocabulary = 64;

class PositionTest : public FakeServerTest {
 protected:
  // A fake that tells probabilities, with further words for its environment.
  [[nodiscard]] LaunchOptions Model(std::vector<experiment::EnvironmentChange> more = {}) const {
    more.push_back({"FAKE_VOCABULARY", std::to_string(kVocabulary)});
    return Fake(std::move(more));
  }
  [[nodiscard]] base::Result<PositionAnswer> AskOne(const std::string& fault) const {
    const auto server = StartHealthy(Model({{"FAKE_FAULT", fault}}));
    const std::vector<TokenId> text = {1, 5, 9};
    return Client(server.url()).GetPosition({.text = text, .most = kVocabulary}, never_);
  }
  [[nodiscard]] std::string ErrorOf(const std::string& fault) const {
    const auto answer = AskOne(fault);
    EXPECT_FALSE(answer) << fault;
    EXPECT_EQ(answer.error().code, ErrorCode::kServer);
    return answer.error().Text();
  }
};

TEST_F(PositionTest, ListsTheWholeVocabularyOrTheLikeliest) {
  const auto server = StartHealthy(Model());
  const Client client(server.url());
  EXPECT_EQ(client.GetModel(never_)->vocabulary, kVocabulary);
  const std::vector<TokenId> text = {1, 5, 9};
  const auto all = client.GetPosition({.text = text, .most = kVocabulary}, never_);
  ASSERT_TRUE(all) << all.error().Text();
  EXPECT_EQ(all->listed.size(), 64u);
  const auto again = client.GetPosition({.text = text, .most = 3, .reuse = false}, never_);
  ASSERT_TRUE(again) << again.error().Text();
  EXPECT_EQ(again->listed.size(), 3u);
  EXPECT_TRUE(std::equal(again->listed.begin(), again->listed.end(), all->listed.begin()));
}

TEST_F(PositionTest, GeneratesTheTokensThatItSamplesOneByOne) {
  const auto server = StartHealthy(Model());
  const Client client(server.url());
  std::vector<TokenId> text = {1, 5, 9};
  const auto made = client.Generate(text, Tokens(5), never_);
  ASSERT_TRUE(made) << made.error().Text();
  ASSERT_EQ(made->size(), 5u);
  for (const TokenId token : *made) {
    const auto answer = client.GetPosition({.text = text, .most = 1}, never_);
    ASSERT_TRUE(answer) << answer.error().Text();
    EXPECT_EQ(answer->sampled, token);
    text.push_back(token);
  }
}

TEST_F(PositionTest, WhatAServerGetsWrongIsReadAsItIs) {
  const auto nan = AskOne("nan-logits").value();
  EXPECT_TRUE(std::isnan(nan.listed.front().logprob));
  const auto shifted = AskOne("shifted-ids").value();
  EXPECT_EQ(std::ranges::max(shifted.listed, {}, &TokenLogprob::token).token, kVocabulary);
  EXPECT_EQ(AskOne("few-probs")->listed.size(), 10u);
  double sum = 0;
  const auto less = AskOne("sum-0.9").value();
  for (const auto& each : less.listed) sum += std::exp(each.logprob);
  EXPECT_NEAR(sum, 0.9, 1e-5);
}

TEST_F(PositionTest, AnAnswerWithoutAPositionIsAnError) {
  EXPECT_EQ(ErrorOf("ok-error"), "/completion: llama-server says: Compute error.");
  EXPECT_EQ(ErrorOf("error-json"), "/completion: llama-server says: the fake refuses");
  EXPECT_THAT(ErrorOf("no-probs"), testing::HasSubstr("answered without log-probabilities"));
}

TEST(Client, SendsAChatNoTokenIds) {
  const auto answer =
      Client("http://127.0.0.1:1").Complete({.prompt = std::vector<TokenId>{1}}, sys::StopSignal());
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kUsage);
}

// What a hostile or broken server may answer.
TEST(ClientThread, AnswersThatMakeNoSenseAreErrors) {
  const sys::StopSignal never;
  for (const char* text : {"", "[]", "<html>", "{}", R"({"tokens": 3})", R"({"tokens": ["a"]})",
                           R"({"tokens": [-1]})", R"({"tokens": [99999999999]})"}) {
    const TestServer server([text](const std::string&, int socket) {
      TestServer::Send(socket, TestServer::Answer(text));
    });
    const auto ids = Client(server.url()).Tokenize("x", false, never);
    ASSERT_FALSE(ids) << text;
    EXPECT_EQ(ids.error().code, ErrorCode::kServer) << text;
  }
}

TEST(AnswerStream, ContentThatMakesNoSenseIsAnError) {
  for (const char* text :
       {"", "data: [DONE]\n\n", "data: {}\n\n", "data: 3\n\n", "data: {\"choices\": [3]}\n\n",
        "data: {\"choices\": [{\"delta\": {\"content\": 7}}]}\n\n",
        "data: {\"usage\": {\"prompt_tokens\": -4, \"completion_tokens\": 1}}\n\n",
        "data: {\"choices\": {}, \"timings\": []}\n\n", "error: {\"message\": \"old\"}\n\n"}) {
    for (const Endpoint endpoint : {Endpoint::kChat, Endpoint::kCompletion}) {
      AnswerStream stream(endpoint);
      const auto fed = stream.Feed(text, {});
      const auto answer = stream.Finish();
      EXPECT_FALSE(fed && answer) << text;
      EXPECT_EQ(fed ? answer.error().code : fed.error().code, ErrorCode::kServer) << text;
    }
  }
}

TEST(ClientThread, ModelsThatMakeNoSenseAreErrors) {
  const sys::StopSignal never;
  const auto ask = [&never](const std::string& text) {
    const TestServer server([text](const std::string&, int socket) {
      TestServer::Send(socket, TestServer::Answer(text));
    });
    return Client(server.url()).GetModel(never);
  };
  for (const char* text :
       {"{}", R"({"data":[]})", R"({"data":{}})", R"({"data":[{"meta":3}]})",
        R"({"data":[{"meta":{"n_vocab":"408"}}]})", R"({"data":[{"meta":{"n_vocab":1.5}}]})"}) {
    const auto model = ask(text);
    ASSERT_FALSE(model) << text;
    EXPECT_EQ(model.error().code, ErrorCode::kServer) << text;
  }
  EXPECT_EQ(ask(R"({"data":[{"id":"old"}]})"), ModelFacts());
  const auto recorded =
      sys::ReadText(CULPRIT_SOURCE_DIR "/tests/fixtures/llama-server-0.7.0/models.json").value();
  const auto model = ask(recorded.substr(recorded.find('{')));
  ASSERT_TRUE(model) << model.error().Text();
  EXPECT_EQ(model->vocabulary, 408);
  EXPECT_EQ(model->embedding, 512);
}

// Whole streams of Debian's 0.7.0.
TEST(AnswerStream, ReadsRecordedStreams) {
  const auto read = [](const char* name, Endpoint endpoint) {
    const auto text = sys::ReadText(std::string(CULPRIT_SOURCE_DIR) +
                                    "/tests/fixtures/llama-server-0.7.0/" + name);
    AnswerStream stream(endpoint);
    EXPECT_TRUE(stream.Feed(text.value(), {}));
    return stream.Finish().value();
  };
  const auto chat = read("chat.sse", Endpoint::kChat);
  EXPECT_EQ(chat.text, " aJorB");
  EXPECT_EQ(chat.arrivals.size(), 4u);
  EXPECT_EQ(chat.prompt, Tokens(26));
  EXPECT_EQ(chat.finish_reason, "length");
  const auto reasoning = read("chat-reasoning.sse", Endpoint::kChat);
  EXPECT_EQ(reasoning.arrivals.size(), 4u);
  EXPECT_TRUE(reasoning.text->starts_with(" aJ"));
  const auto speculation = read("chat-speculation.sse", Endpoint::kChat);
  EXPECT_EQ(speculation.generated, Tokens(96));
  EXPECT_EQ(speculation.arrivals.size(), 96u);
  EXPECT_EQ(speculation.timings->steps(), base::Steps(75));
  const auto completion = read("completion.sse", Endpoint::kCompletion);
  EXPECT_EQ(completion.text, "Nriz of");
  EXPECT_THAT(completion.token_ids, testing::ElementsAre(305, 389, 349, 406));
  EXPECT_EQ(completion.prompt, Tokens(6));
  EXPECT_EQ(completion.finish_reason, "length");
}

// Chunks of llama.cpp 0.7.0, shortened: a model that thinks before it answers.
TEST(AnswerStream, TheFirstTokenMayBeReasoning) {
  AnswerStream stream(Endpoint::kChat);
  const auto at = [](int ns) { return base::HostTime(base::Nanos(ns)); };
  const auto chunk = [](const std::string& delta) {
    return "data: {\"choices\":[{\"finish_reason\":null,\"index\":0,\"delta\":" + delta + "}]}\n\n";
  };
  ASSERT_TRUE(stream.Feed(chunk(R"({"role":"assistant","content":null})"), at(1)));
  ASSERT_TRUE(stream.Feed(chunk(R"({"reasoning_content":"Hm"})"), at(2)));
  ASSERT_TRUE(stream.Feed(chunk(R"({"content":""})"), at(3)));
  ASSERT_TRUE(stream.Feed(chunk(R"({"content":"Yes"})"), at(4)));
  ASSERT_TRUE(
      stream.Feed("data: {\"choices\":[{\"finish_reason\":\"stop\",\"delta\":{}}]}\n\n"
                  "data: {\"choices\":[],\"usage\":{\"completion_tokens\":3,"
                  "\"prompt_tokens\":45},\"timings\":{\"cache_n\":0,\"prompt_n\":45,"
                  "\"prompt_ms\":25.82,\"predicted_n\":3,\"predicted_ms\":4.783}}\n\n"
                  "data: [DONE]\n\n",
                  at(5)));
  const auto answer = stream.Finish();
  ASSERT_TRUE(answer) << answer.error().Text();
  EXPECT_EQ(answer->text, "HmYes");
  EXPECT_THAT(answer->arrivals, testing::ElementsAre(at(2), at(4)));
  EXPECT_EQ(answer->finish_reason, "stop");
  EXPECT_EQ(answer->prompt, Tokens(45));
  EXPECT_EQ(answer->generated, Tokens(3));
}

}  // namespace
}  // namespace culprit::server
