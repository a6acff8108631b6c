#include "sys/process.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "sys/sample_files.h"

namespace culprit::sys {
namespace {

using base::ErrorCode;
using namespace std::chrono_literals;

ProcessOptions Shell(const std::string& script) { return {.argv = {"/bin/sh", "-c", script}}; }

TEST(RunCommand, ReturnsOutputErrorsAndExitCode) {
  const auto result = RunCommand(Shell("echo out; echo err >&2; exit 3"), 60s);
  ASSERT_TRUE(result) << result.error().Text();
  EXPECT_EQ(result->out, "out\n");
  EXPECT_EQ(result->err, "err\n");
  EXPECT_EQ(result->exit, (Exit{.code = 3}));
  EXPECT_EQ(result->exit.Text(), "exit 3");
}

TEST(RunCommand, NamesAProgramThatIsNotThere) {
  const auto result = RunCommand({.argv = {"no-such-program-here"}}, 60s);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(result.error().Text(),
            "no-such-program-here: cannot be started: No such file or directory");
}

TEST(RunCommand, EndsWhenTheUserWantsToStop) {
  StopSignal stop;
  stop.Request();
  const auto result = RunCommand(Shell("exec sleep 1000"), 60s, stop);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kInterrupted);
}

TEST(RunCommand, KillsWhatTakesTooLong) {
  const auto result = RunCommand(Shell("exec sleep 1000"), 50ms);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kTimeout);
}

TEST(RunCommand, KeepsAtMostOneMebibyte) {
  const auto result = RunCommand(Shell("head -c 3000000 /dev/zero"), 60s);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->out.size(), std::size_t{1} << 20);
}

TEST(RunCommand, GivesTheChildOnlyTheVariablesItIsTold) {
  ProcessOptions options{.argv = {"/usr/bin/env"}, .environment = {"ONE=1"}};
  options.environment = WithVariable(options.environment, "ONE", "2");
  const auto result = RunCommand(options, 60s);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->out, "ONE=2\n");
}

TEST(RunCommand, LeavesNoFileOpenInTheChild) {
  const int fd = ::dup(STDERR_FILENO);  // without CLOEXEC, as a careless library would
  const auto result = RunCommand(Shell("ls /proc/self/fd | wc -l"), 60s);
  ::close(fd);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->out, "4\n");  // 0, 1, 2 and the folder that ls reads
}

TEST(RunCommand, IsAnnouncedBeforeItRuns) {
  const SampleFolder folder;
  ProcessOptions options = Shell("cat '" + folder.path() + "/pid'; echo $$");
  options.before_exec = [&](const ProcessIdentity& child) -> base::Status {
    EXPECT_TRUE(IsAlive(child));
    std::ofstream(folder.path() + "/pid") << child.pid << "\n";
    return {};
  };
  const auto result = RunCommand(options, 60s);
  ASSERT_TRUE(result) << result.error().Text();
  const auto line_end = result->out.find('\n') + 1;
  EXPECT_EQ(result->out.substr(0, line_end), result->out.substr(line_end));
}

TEST(RunCommand, NeverRunsWhatCouldNotBeAnnounced) {
  const SampleFolder folder;
  ProcessOptions options = Shell(": > '" + folder.path() + "/ran'");
  std::optional<ProcessIdentity> child;
  options.before_exec = [&](const ProcessIdentity& identity) -> base::Status {
    child = identity;
    return base::Fail(ErrorCode::kEnvironment, "no room");
  };
  const auto result = RunCommand(options, 60s);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().Text(), "no room");
  EXPECT_FALSE(IsAlive(*child));
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/ran"));
}

TEST(Process, AppendsOutputAndErrorsToOneFile) {
  const SampleFolder folder;
  ProcessOptions options = Shell("echo out; echo err >&2");
  options.output_file = folder.path() + "/log";
  const StopSignal never;
  for (int i = 0; i < 2; ++i) {
    auto process = Process::Start(options);
    ASSERT_TRUE(process) << process.error().Text();
    EXPECT_EQ(process->WaitFor(60s, never), (Exit{.code = 0}));
  }
  std::ifstream log(options.output_file);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(log), {}), "out\nerr\nout\nerr\n");
}

// StartWithChild starts a shell that waits for a child of its own.
std::pair<base::Result<Process>, std::optional<ProcessIdentity>> StartWithChild() {
  const SampleFolder folder;
  const std::string pid_file = folder.path() + "/pid";
  auto process = Process::Start(Shell("sleep 1000 & echo $! > '" + pid_file + "'; wait"));
  const StopSignal never;
  pid_t child = 0;
  while (process && child == 0 && never.SleepFor(1ms)) std::ifstream(pid_file) >> child;
  return {std::move(process), Identify(child)};
}

TEST(Process, StopEndsChildrenOfTheServerAsWell) {
  const StopSignal never;
  auto [process, child] = StartWithChild();
  ASSERT_TRUE(process && child);
  const auto stopped = process->Stop(60s);
  EXPECT_EQ(stopped.exit, (Exit{.signal = SIGTERM}));
  EXPECT_FALSE(stopped.killed);
  while (IsAlive(*child) && never.SleepFor(1ms)) {
  }
  EXPECT_FALSE(IsAlive(*child));
}

TEST(Process, SignalLeaderLeavesItsChildrenAlone) {
  const StopSignal never;
  auto [process, child] = StartWithChild();
  ASSERT_TRUE(process && child);
  process->SignalLeader(SIGTERM);
  EXPECT_EQ(process->WaitFor(60s, never), (Exit{.signal = SIGTERM}));
  EXPECT_TRUE(IsAlive(*child));
}

TEST(Process, StopKillsWhatIgnoresTheGentleSignal) {
  const SampleFolder folder;
  const std::string ready = folder.path() + "/ready";
  auto process =
      Process::Start(Shell("trap '' TERM; : > '" + ready + "'; while :; do sleep 0.05; done"));
  ASSERT_TRUE(process);
  const StopSignal never;
  while (!std::filesystem::exists(ready) && never.SleepFor(1ms)) {
  }
  const auto stopped = process->Stop(20ms);
  EXPECT_EQ(stopped.exit, (Exit{.signal = SIGKILL}));
  EXPECT_TRUE(stopped.killed);
}

TEST(Process, WaitingEndsWhenTheUserWantsToStop) {
  auto process = Process::Start(Shell("exec sleep 1000"));
  ASSERT_TRUE(process);
  const StopSignal stop;
  stop.Request(SIGINT);
  EXPECT_EQ(process->WaitFor(1000s, stop), std::nullopt);
  EXPECT_EQ(stop.signal(), SIGINT);
  EXPECT_FALSE(stop.SleepFor(1000s));
}

TEST(Process, DiesWithItsOwner) {
  std::optional<ProcessIdentity> identity;
  {
    auto process = Process::Start(Shell("exec sleep 1000"));
    ASSERT_TRUE(process);
    identity = process->identity();
    EXPECT_TRUE(IsAlive(*identity));
  }
  EXPECT_FALSE(IsAlive(*identity));
}

TEST(BootId, IsThatOfTheKernel) { EXPECT_EQ(BootId().size(), 36U); }

}  // namespace
}  // namespace culprit::sys
