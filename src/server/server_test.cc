#include "server/server.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include "server/client.h"
#include "server/fake_server.h"

namespace culprit::server {
namespace {

using base::ErrorCode;
using namespace std::chrono_literals;
using testing::EndsWith;
using testing::HasSubstr;

class ServerTest : public FakeServerTest {
 protected:
  // The error of a server that does not get healthy.
  static base::Error Refusal(const LaunchOptions& options, std::chrono::nanoseconds limit = 60s) {
    auto server = Server::Start(options);
    if (!server) return server.error();
    auto healthy = server->WaitUntilHealthy(limit, sys::StopSignal());
    return healthy ? base::Error{ErrorCode::kUsage, "is healthy"} : std::move(healthy.error());
  }
  // The error of a request to a healthy server with a fault.
  base::Error RequestError(const char* fault, sys::HttpLimits limits = {}) {
    auto server = StartHealthy(Fake({{"FAKE_FAULT", fault}}));
    const auto answer =
        Client(server.url(), limits).Complete({.prompt = "x", .most = base::Tokens(8)}, never_);
    if (answer) return {ErrorCode::kUsage, "was answered"};
    return server.Explain(answer.error());
  }
};

TEST_F(ServerTest, StartsGetsHealthyAndLeavesWhenTold) {
  auto server = StartHealthy(Fake({{"FAKE_LOAD_S", "0.1"}}));
  EXPECT_TRUE(sys::IsAlive(server.identity()));
  EXPECT_THAT(server.ReadLog(), HasSubstr("model loaded"));
  const auto stopped = server.Stop(60s);
  EXPECT_EQ(stopped.exit, (sys::Exit{.code = 0}));
  EXPECT_FALSE(stopped.killed);
}

TEST_F(ServerTest, ALogThatTheServerMadeAPipeOfIsNotWaitedFor) {
  const auto options = Fake();
  auto server = StartHealthy(options);
  ASSERT_EQ(::unlink(options.log_file.c_str()), 0);
  ASSERT_EQ(::mkfifo(options.log_file.c_str(), 0600), 0);
  EXPECT_EQ(server.ReadLog(), "");
}

TEST_F(ServerTest, ADeathWhileLoadingIsToldAtOnce) {
  const auto options = Fake({{"FAKE_FAULT", "die-loading"}});
  const auto error = Refusal(options);
  EXPECT_EQ(error.code, ErrorCode::kServer);
  EXPECT_EQ(error.Text(),
            "llama-server left before it was healthy (killed by signal 6): "
            "/build/ggml/src/ggml-backend.cpp:1234: GGML_ASSERT(fake) failed; its log is " +
                options.log_file);
}

TEST_F(ServerTest, AWrongModelIsNamed) {
  auto options = Fake();
  options.model = "/none/m.gguf";
  EXPECT_THAT(Refusal(options).Text(),
              testing::StartsWith("llama-server left before it was healthy (exit 1): "
                                  "gguf_init_from_file: failed to open GGUF file '/none/m.gguf'"));
}

TEST_F(ServerTest, AnOldLogInTheSameFileIsNotRead) {
  const auto options = Fake({}, {"--bogus"});
  sys::ProcessOptions other{.argv = {"/bin/echo", "GGML_ASSERT(old) failed"},
                            .output_file = options.log_file};
  sys::Process::Start(other)->WaitFor(60s, never_);
  EXPECT_THAT(Refusal(options).message, EndsWith("(exit 1): error: invalid argument: --bogus"));
}

TEST_F(ServerTest, LoadingForeverEndsAtTheLimit) {
  const auto error = Refusal(Fake({{"FAKE_FAULT", "hang-load"}}), 300ms);
  EXPECT_EQ(error.code, ErrorCode::kTimeout);
}

TEST_F(ServerTest, WaitingEndsWhenTheUserWantsToStop) {
  auto server = Server::Start(Fake({{"FAKE_FAULT", "hang-load"}}));
  ASSERT_TRUE(server);
  const sys::StopSignal stop;
  stop.Request(SIGINT);
  const auto healthy = server->WaitUntilHealthy(60s, stop);
  ASSERT_FALSE(healthy);
  EXPECT_EQ(healthy.error().code, ErrorCode::kInterrupted);
}

TEST_F(ServerTest, AnotherServerOnThePortIsNotTakenForOurs) {
  const auto options = Fake({{"FAKE_FAULT", "share-port"}});
  auto other = StartHealthy(options);
  const auto error = Refusal(options);
  EXPECT_EQ(error.code, ErrorCode::kEnvironment);
  EXPECT_THAT(error.message, HasSubstr("another server answers on port"));
}

TEST_F(ServerTest, ADeathDuringARequestIsExplained) {
  const auto error = RequestError("die-request");
  EXPECT_EQ(error.code, ErrorCode::kServer);
  EXPECT_EQ(error.message,
            "llama-server left during a request (killed by signal 6): "
            "/build/ggml/src/ggml-cpu/ops.cpp:4321: GGML_ASSERT(fake) failed");
}

TEST_F(ServerTest, AServerThatFallsSilentIsNotExplainedAway) {
  const auto error = RequestError("hang-request", {.idle = 200ms});
  EXPECT_EQ(error.code, ErrorCode::kTimeout);
  EXPECT_EQ(error.message, "not a byte within 0.2 s");
}

TEST_F(ServerTest, WhatIgnoresTheGentleSignalIsKilled) {
  auto server = StartHealthy(Fake({{"FAKE_FAULT", "ignore-term"}}));
  const auto stopped = server.Stop(50ms);
  EXPECT_TRUE(stopped.killed);
  EXPECT_EQ(stopped.exit, (sys::Exit{.signal = SIGKILL}));
}

TEST_F(ServerTest, ChildrenOfTheServerGoWithIt) {
  auto server = StartHealthy(Fake({{"FAKE_FAULT", "spawn-child"}}));
  const auto group = server.identity().pid;
  const auto members = sys::GroupMembers(group);
  ASSERT_EQ(members.size(), 2u);
  const auto child = sys::Identify(members[0] == group ? members[1] : members[0]);
  server.Stop(60s);
  while (child && sys::IsAlive(*child) && never_.SleepFor(1ms)) {
  }
}

}  // namespace
}  // namespace culprit::server
