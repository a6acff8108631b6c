// The real llama-server named by CULPRIT_LLAMA_SERVER with the model in CULPRIT_TEST_MODEL.
#include "server/server.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "server/client.h"
#include "server/identity.h"
#include "server/log.h"
#include "server/prompt.h"
#include "sys/ports.h"
#include "sys/sample_files.h"

namespace culprit::server {
namespace {

using base::ErrorCode;
using base::Tokens;
using namespace std::chrono_literals;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;

std::string Prose() {
  std::string text;
  for (int i = 0; i < 200; ++i) {
    text += fmt::format(
        "Paragraph {}. A measurement is worth as much as what it is compared with; two runs "
        "in a row say little, four in a mirrored order say more.\n",
        i);
  }
  return text;
}

class RealServer : public testing::Test {
 protected:
  void SetUp() override {
    const char* binary = std::getenv("CULPRIT_LLAMA_SERVER");
    const char* model = std::getenv("CULPRIT_TEST_MODEL");
    if (binary == nullptr || model == nullptr) {
      GTEST_SKIP() << "CULPRIT_LLAMA_SERVER and CULPRIT_TEST_MODEL name no server and model";
    }
    options_.binary = binary;
    options_.model = model;
    options_.arguments = {
        "-c", "4096", "-np", "1", "-t", "1", "-lv", "4", "--slot-save-path", folder_.path()};
    options_.port = sys::FreePort(static_cast<std::uint16_t>(10'000 + ::getpid() % 20'000)).value();
    options_.log_file = folder_.path() + "/server.log";
  }
  Server StartHealthy() {
    auto server = Server::Start(options_);
    EXPECT_TRUE(server) << server.error().Text();
    const auto healthy = server->WaitUntilHealthy(5min, never_);
    EXPECT_TRUE(healthy) << healthy.error().Text();
    return *std::move(server);
  }

  sys::SampleFolder folder_;
  sys::StopSignal never_;
  LaunchOptions options_;
};

TEST_F(RealServer, TellsTheSameProbabilitiesEachTime) {
  const auto server = StartHealthy();
  const Client client(server.url());
  const auto model = client.GetModel(never_);
  ASSERT_TRUE(model) << model.error().Text();
  ASSERT_TRUE(model->vocabulary);
  auto text = client.Tokenize(Prose(), true, never_).value();
  text.resize(700);
  const auto made = client.Generate(text, Tokens(6), never_);
  ASSERT_TRUE(made) << made.error().Text();
  ASSERT_EQ(made->size(), 6u);
  const auto follow = [&] {
    std::vector<PositionAnswer> all;
    std::vector<TokenId> grown = text;
    for (const TokenId token : *made) {
      const auto answer = client.GetPosition(
          {.text = grown, .most = *model->vocabulary, .reuse = !all.empty()}, never_);
      EXPECT_TRUE(answer) << answer.error().Text();
      EXPECT_EQ(answer->listed.size(), static_cast<std::size_t>(*model->vocabulary));
      EXPECT_EQ(answer->sampled, token);
      all.push_back(*answer);
      grown.push_back(token);
    }
    return all;
  };
  const auto once = follow(), again = follow();
  for (std::size_t i = 0; i < once.size(); ++i) EXPECT_EQ(once[i].listed, again[i].listed) << i;
}

TEST_F(RealServer, AnswersAboutItselfAndStopsGently) {
  auto server = StartHealthy();
  const Client client(server.url());
  const auto props = client.GetProps(never_);
  ASSERT_TRUE(props) << props.error().Text();
  EXPECT_EQ(props->model_path, options_.model);
  EXPECT_EQ(props->context, Tokens(4096));
  const auto ids = client.Tokenize("hello world", true, never_);
  ASSERT_TRUE(ids) << ids.error().Text();
  EXPECT_THAT(client.Detokenize(*ids, never_).value(), HasSubstr("hello world"));
  const auto stopped = server.Stop(30s);
  EXPECT_FALSE(stopped.killed);
  EXPECT_TRUE(stopped.exit.ok()) << stopped.exit.Text();
  const auto log = ParseLog(server.ReadLog());
  EXPECT_EQ(log.model_path, options_.model);
  ASSERT_EQ(log.contexts.size(), 1u);
  EXPECT_EQ(log.contexts[0].size, 4096);
  EXPECT_EQ(log.contexts[0].flash_attention, "enabled");
  EXPECT_GT(log.kv_mib().value(), 0);
  EXPECT_THAT(log.backends, Contains("CPU"));
  EXPECT_TRUE(log.threads && log.build);
}

TEST_F(RealServer, MakesAPromptOfExactlySoManyTokens) {
  const auto server = StartHealthy();
  const Client client(server.url());
  for (const Endpoint endpoint : {Endpoint::kChat, Endpoint::kCompletion}) {
    for (const std::int64_t wanted : {97, 1000, 3001}) {
      const auto prompt = MakeExactPrompt(client, endpoint, Prose(), Tokens(wanted), never_);
      ASSERT_TRUE(prompt) << prompt.error().Text();
      const auto answer = client.Complete({.endpoint = endpoint, .prompt = prompt->text}, never_);
      ASSERT_TRUE(answer) << answer.error().Text();
      EXPECT_EQ(answer->prompt, Tokens(wanted));
      EXPECT_EQ(answer->timings->prompt, Tokens(wanted)) << "nothing from the cache";
      std::printf("%ld tokens: %d requests\n", static_cast<long>(wanted), prompt->requests);
    }
  }
}

TEST_F(RealServer, StreamsWhatItsTimingsSay) {
  const auto server = StartHealthy();
  const Client client(server.url());
  for (const Endpoint endpoint : {Endpoint::kChat, Endpoint::kCompletion}) {
    const auto answer = client.Complete(
        {.endpoint = endpoint, .prompt = Prose().substr(0, 1000), .most = Tokens(200)}, never_);
    ASSERT_TRUE(answer) << answer.error().Text();
    EXPECT_EQ(answer->generated, Tokens(200));
    EXPECT_EQ(answer->finish_reason, "length");
    EXPECT_EQ(answer->timings->predicted, Tokens(200));
    ASSERT_TRUE(answer->streamed_per_token());
    std::printf("%zu chunks; server %.4f ms a token, client %.4f ms\n", answer->arrivals.size(),
                answer->timings->per_token()->millis(), answer->streamed_per_token()->millis());
  }
}

TEST_F(RealServer, KeepsASlotOnDisk) {
  const auto server = StartHealthy();
  const Client client(server.url());
  CompletionRequest request{.prompt = "a long prompt", .cache_prompt = true, .slot = 0};
  ASSERT_TRUE(client.Complete(request, never_));
  const auto saved = client.SaveSlot(0, "warm.bin", never_);
  ASSERT_TRUE(saved) << saved.error().Text();
  EXPECT_EQ(client.RestoreSlot(0, "warm.bin", never_), *saved);
  const auto warm = client.Complete(request, never_);
  ASSERT_TRUE(warm) << warm.error().Text();
  EXPECT_GT(warm->timings->cached, Tokens(0));
}

TEST_F(RealServer, RefusesInItsOwnWords) {
  const auto server = StartHealthy();
  const CompletionRequest request{.endpoint = Endpoint::kCompletion,
                                  .prompt = std::vector<TokenId>{1, 2, 2'000'000'000}};
  const auto answer = Client(server.url()).Complete(request, never_);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kServer);
  EXPECT_THAT(answer.error().message,
              HasSubstr("llama-server says: Prompt contains invalid tokens"));
}

TEST_F(RealServer, AWrongModelPathIsToldAtOnce) {
  options_.model = "/none/nothere.gguf";
  auto server = Server::Start(options_);
  ASSERT_TRUE(server);
  const auto healthy = server->WaitUntilHealthy(5min, never_);
  ASSERT_FALSE(healthy);
  EXPECT_EQ(healthy.error().Text(),
            "llama-server left before it was healthy (exit 1): gguf_init_from_file: failed to open "
            "GGUF file '/none/nothere.gguf' (No such file or directory); its log is " +
                options_.log_file);
}

TEST_F(RealServer, ASecondOneOnThePortIsNotTakenForOurs) {
  const auto first = StartHealthy();
  auto second = Server::Start(options_);
  ASSERT_TRUE(second);
  const auto healthy = second->WaitUntilHealthy(5min, never_);
  ASSERT_FALSE(healthy);
  std::printf("%s\n", healthy.error().Text().c_str());
}

TEST_F(RealServer, IsMadeOfItsLibrariesAndBackends) {
  const auto server = StartHealthy();
  const sys::FileHashes hashes(folder_.path());
  const auto linked = IdentifyBinary(
      options_.binary, ServerEnvironment(options_, sys::OwnEnvironment()), hashes, never_);
  ASSERT_TRUE(linked) << linked.error().Text();
  const auto live = IdentifyProcess(server.identity().pid, hashes, never_);
  ASSERT_TRUE(live) << live.error().Text();
  EXPECT_TRUE(linked->missing.empty());
  EXPECT_THAT(linked->objects, Contains(Field(&LoadedObject::path, HasSubstr("libllama"))));
  EXPECT_THAT(live->objects, Contains(Field(&LoadedObject::path, HasSubstr("libggml-cpu"))));
  for (const LoadedObject& object : linked->objects) EXPECT_THAT(live->objects, Contains(object));
  const auto holder = FindText(live->objects, "ggml_backend_cpu_init", never_);
  ASSERT_TRUE(holder) << holder.error().Text();
  EXPECT_THAT(holder->value_or(""), HasSubstr("ggml"));
}

}  // namespace
}  // namespace culprit::server
