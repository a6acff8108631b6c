#include "sys/ports.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include "sys/process.h"
#include "sys/test_server.h"

namespace culprit::sys {
namespace {

using namespace std::chrono_literals;

TEST(PortsThread, AFreePortIsNotTheOneOfAListener) {
  const TestServer server([](const std::string&, int) {});
  const auto port = FreePort(server.port());
  ASSERT_TRUE(port);
  EXPECT_GT(*port, server.port());
}

TEST(PortsThread, OnlyTheGroupOfTheListenerOwnsItsPort) {
  const TestServer server([](const std::string&, int) {});
  EXPECT_EQ(WhoListens(server.port(), ::getpgrp()), Listener::kGroup);
  auto other = Process::Start({.argv = {"/bin/sleep", "1000"}});
  ASSERT_TRUE(other);
  EXPECT_EQ(WhoListens(server.port(), other->identity().pid), Listener::kSomebodyElse);
}

TEST(PortsThread, WhoListensHasANameAndAPid) {
  const TestServer server([](const std::string&, int) {});
  EXPECT_EQ(NameListeners(server.port()), fmt::format("sys_test ({})", ::getpid()));
  EXPECT_EQ(NameListeners(FreePort(18101).value()), "nobody any more");
}

TEST(Ports, NobodyListensOnAFreePort) {
  const auto port = FreePort(18101);
  ASSERT_TRUE(port);
  EXPECT_EQ(WhoListens(*port, ::getpgrp()), Listener::kNobody);
}

TEST(Ports, MembersOfAGroupAreItsProcesses) {
  auto process = Process::Start({.argv = {"/bin/sleep", "1000"}});
  ASSERT_TRUE(process);
  EXPECT_THAT(GroupMembers(process->identity().pid), testing::ElementsAre(process->identity().pid));
}

}  // namespace
}  // namespace culprit::sys
