#include "server/command.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "sys/sample_files.h"

namespace culprit::server {
namespace {

using testing::ElementsAre;

TEST(CommandLine, ListensOnThisMachineOnly) {
  const LaunchOptions options{.wrapper = {"rocprofv3", "--"},
                              .binary = "/opt/a/bin/llama-server",
                              .model = "m.gguf",
                              .arguments = {"-c", "4096"},
                              .port = 8102};
  EXPECT_THAT(CommandLine(options),
              ElementsAre("rocprofv3", "--", "/opt/a/bin/llama-server", "--host", "127.0.0.1",
                          "--port", "8102", "-m", "m.gguf", "-c", "4096"));
  EXPECT_THAT(CommandLine({.binary = "llama-server"}),
              ElementsAre("llama-server", "--host", "127.0.0.1", "--port", "8101"));
}

TEST(ServerEnvironment, LeadsToTheLibrariesBesideTheBinary) {
  const sys::SampleFolder folder;
  const std::string bin = folder.path() + "/bin", lib = folder.path() + "/lib";
  std::filesystem::create_directory(bin);
  LaunchOptions options{.binary = bin + "/llama-server"};
  EXPECT_THAT(ServerEnvironment(options, {"A=1"}), ElementsAre("A=1", "LD_LIBRARY_PATH=" + bin));
  std::filesystem::create_directory(lib);
  options.environment = {{"LD_LIBRARY_PATH", "/opt/rocm/lib"}, {"B", "2"}, {"A", std::nullopt}};
  EXPECT_THAT(ServerEnvironment(options, {"A=1", "AB=3", "LD_LIBRARY_PATH=/usr/x:/usr/y"}),
              ElementsAre("AB=3", "B=2",
                          "LD_LIBRARY_PATH=" + bin + ":" + lib + ":/opt/rocm/lib:/usr/x:/usr/y"));
  options.environment = {{"LD_LIBRARY_PATH", std::nullopt}};
  EXPECT_THAT(ServerEnvironment(options, {"LD_LIBRARY_PATH=/usr/x"}),
              ElementsAre("LD_LIBRARY_PATH=" + bin + ":" + lib));
}

}  // namespace
}  // namespace culprit::server
