// fake_server: how tests start tests/fakes/llama_server.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <vector>

#include "server/server.h"
#include "sys/ports.h"
#include "sys/process.h"
#include "sys/sample_files.h"

namespace culprit::server {

// FakeServerTest gives each test a folder for logs, and is skipped where there is no Python.
class FakeServerTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto python =
        sys::RunCommand({.argv = {"python3", "--version"}}, std::chrono::minutes(1));
    if (!python || !python->ok())
      GTEST_SKIP() << "python3, in which the fake is written, is absent";
  }
  [[nodiscard]] LaunchOptions Fake(std::vector<experiment::EnvironmentChange> environment = {},
                                   std::vector<std::string> arguments = {}) const {
    return {.binary = CULPRIT_SOURCE_DIR "/tests/fakes/llama_server",
            .arguments = std::move(arguments),
            .environment = std::move(environment),
            .port = sys::FreePort(first_port_).value(),
            .log_file = folder_.path() + "/server.log"};
  }
  // StartHealthy fails the test when it cannot.
  [[nodiscard]] static Server StartHealthy(const LaunchOptions& options) {
    auto server = Server::Start(options);
    EXPECT_TRUE(server) << server.error().Text();
    const auto healthy = server->WaitUntilHealthy(std::chrono::minutes(1), sys::StopSignal());
    EXPECT_TRUE(healthy) << healthy.error().Text();
    return *std::move(server);
  }

  // Tests run side by side, each in a process of its own.
  const std::uint16_t first_port_ = static_cast<std::uint16_t>(10'000 + ::getpid() % 20'000);
  sys::SampleFolder folder_;
  sys::StopSignal never_;
};

}  // namespace culprit::server
