#include "collect/rocprofv3/tool.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "sys/sample_files.h"

namespace culprit::collect::rocprofv3 {
namespace {

using base::ErrorCode;
using testing::ElementsAre;
using testing::HasSubstr;

// As argparse prints it.
constexpr const char* kHelp72 =
    "usage: rocprofv3 [options] -- <application> [application options]\n"
    "\n"
    "ROCProfilerV3 Run Script\n"
    "\n"
    "options:\n"
    "  -h, --help                            show this help message and exit\n"
    "  -v, --version                         Print the version information and exit\n"
    "\n"
    "I/O options:\n"
    "  -o OUTPUT_FILE, --output-file OUTPUT_FILE\n"
    "                                        default path is `%hostname%/%pid%`\n"
    "  -d OUTPUT_DIRECTORY, --output-directory OUTPUT_DIRECTORY\n"
    "                                        where files go; see --minimum-output-data\n"
    "  -f {csv,json,pftrace,otf2,rocpd} [{csv,json,pftrace,otf2,rocpd} ...], --output-format "
    "{csv,json,pftrace,otf2,rocpd} [{csv,json,pftrace,otf2,rocpd} ...]\n"
    "                                        -x is no flag\n"
    "  --log-level {fatal,error,warning,info,trace,env}\n"
    "  --kernel-trace [BOOL]                 For collecting Kernel Dispatch Traces\n"
    "  --disable-signal-handlers [BOOL]      Let the application handle signals\n";

TEST(RocprofTool, TakesFlagsFromTheLinesThatDefineThem) {
  Tool tool;
  ReadHelp(kHelp72, tool);
  EXPECT_THAT(tool.flags,
              ElementsAre("--disable-signal-handlers", "--help", "--kernel-trace", "--log-level",
                          "--output-directory", "--output-file", "--output-format", "--version",
                          "-d", "-f", "-h", "-o", "-v"));
  EXPECT_TRUE(tool.rocpd);
}

TEST(RocprofTool, PassesOnlyWhatIsListed) {
  Tool tool{.path = "/opt/rocm/bin/rocprofv3"};
  ReadHelp(kHelp72, tool);
  EXPECT_THAT(
      WrapperOf(tool, "/t"),
      ElementsAre("/opt/rocm/bin/rocprofv3", "--kernel-trace", "-d", "/t", "-o", "trace-%pid%",
                  "-f", "rocpd", "--log-level", "warning", "--disable-signal-handlers", "--"));
  Tool old{.path = "rocprofv3"};
  ReadHelp(
      "  -d D, --output-directory D  x\n  -f {csv,json} [{csv,json} ...], --output-format {csv}\n",
      old);
  EXPECT_FALSE(old.rocpd);
  EXPECT_THAT(WrapperOf(old, "/t"), ElementsAre("rocprofv3", "--kernel-trace", "-d", "/t", "-o",
                                                "trace-%pid%", "-f", "csv", "--"));
}

TEST(RocprofTool, CountsInsteadOfTracing) {
  Tool tool{.path = "rocprofv3"};
  ReadHelp(kHelp72, tool);
  EXPECT_THAT(
      WrapperOf(tool, "/t", {.counters = {"SQ_WAVES", "TCC_HIT[0]"}}),
      ElementsAre("rocprofv3", "--pmc", "SQ_WAVES", "TCC_HIT[0]", "-d", "/t", "-o", "trace-%pid%",
                  "-f", "csv", "--log-level", "warning", "--disable-signal-handlers", "--"));
}

TEST(RocprofTool, NamesTheVersionOfRocmRatherThanItsOwn) {
  EXPECT_EQ(ReadVersion("          version: 1.1.0\n     rocm_version: 7.2.1\n"), "7.2.1");
  EXPECT_EQ(ReadVersion("    version: 1.0.0\n"), "1.0.0");
  EXPECT_EQ(ReadVersion("rocprofv3"), "");
  EXPECT_EQ(ReadVersion("version:"), "");
}

// A program that prints a text for --help and another for --version.
std::string Script(const std::string& folder, const std::string& help, const std::string& version) {
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/help") << help;
  std::ofstream(folder + "/version") << version;
  const std::string path = folder + "/rocprofv3";
  std::ofstream(path) << "#!/bin/sh\nexec cat \"" << folder << "/${1#--}\"\n";
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

TEST(RocprofTool, IsFoundInPathOrWhereTheUserSays) {
  const sys::SampleFolder folder;
  const std::string a = Script(folder.path() + "/a", kHelp72, "rocm_version: 7.1.0\n");
  const std::string b = Script(folder.path() + "/b", kHelp72, "rocm_version: 7.2.0\n");
  const std::string path = "PATH=/none::" + folder.path() + "/a:/usr/bin:/bin";
  auto tool = FindTool({path});
  ASSERT_TRUE(tool) << tool.error().Text();
  EXPECT_EQ(tool->path, a);
  EXPECT_EQ(tool->version, "7.1.0");
  tool = FindTool({path, "CULPRIT_ROCPROFV3=" + b});
  ASSERT_TRUE(tool) << tool.error().Text();
  EXPECT_EQ(tool->path, b);
  EXPECT_EQ(tool->version, "7.2.0");
}

TEST(RocprofTool, TakesTheVersionOfRocmWhereTheToolHasNone) {
  const sys::SampleFolder folder;
  Script(folder.path() + "/bin", "  --kernel-trace\n  -d D\n  -o O\n", "");
  std::filesystem::create_directory(folder.path() + "/.info");
  std::ofstream(folder.path() + "/.info/version") << "6.4.1-83\n";
  const auto tool = FindTool({"PATH=" + folder.path() + "/bin:/usr/bin:/bin"});
  ASSERT_TRUE(tool) << tool.error().Text();
  EXPECT_EQ(tool->version, "6.4.1");
}

TEST(RocprofTool, SaysWhatToDoWhereThereIsNone) {
  if (std::filesystem::exists("/opt/rocm/bin/rocprofv3")) GTEST_SKIP() << "rocprofv3 is here";
  auto tool = FindTool({"PATH=/none"});
  ASSERT_FALSE(tool);
  EXPECT_EQ(tool.error().code, ErrorCode::kEnvironment);
  EXPECT_EQ(tool.error().Text(),
            "rocprofv3 is neither in PATH nor in /opt/rocm/bin; install ROCm's rocprofiler-sdk, "
            "name it in CULPRIT_ROCPROFV3, or trace with another collector");
  tool = FindTool({"CULPRIT_ROCPROFV3=/none/rocprofv3"});
  ASSERT_FALSE(tool);
  EXPECT_EQ(tool.error().Text(), "/none/rocprofv3: CULPRIT_ROCPROFV3 names no program");
}

TEST(RocprofTool, RefusesOneThatCannotTraceKernels) {
  const sys::SampleFolder folder;
  Script(folder.path(), "usage: something else\n", "");
  const auto tool = FindTool({"PATH=" + folder.path() + ":/usr/bin:/bin"});
  ASSERT_FALSE(tool);
  EXPECT_EQ(tool.error().code, ErrorCode::kEnvironment);
  EXPECT_THAT(tool.error().Text(), HasSubstr("does not say that it can trace kernels"));
  Script(folder.path(), kHelp72, "");
  EXPECT_TRUE(FindTool({"PATH=" + folder.path() + ":/usr/bin:/bin"}));
  const auto counts =
      FindTool({"PATH=" + folder.path() + ":/usr/bin:/bin"}, {.counters = {"SQ_WAVES"}});
  ASSERT_FALSE(counts);
  EXPECT_EQ(counts.error().code, ErrorCode::kEnvironment);
  EXPECT_THAT(counts.error().Text(), HasSubstr("does not say that it can count (--pmc)"));
}

}  // namespace
}  // namespace culprit::collect::rocprofv3
