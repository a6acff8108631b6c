#include "sys/environment.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "sys/sample_files.h"

namespace culprit::sys {
namespace {

using testing::ElementsAre;

TEST(Environment, TakesTheWholeNameOfAVariable) {
  const Environment two = {"AB=1", "A=2=3"};
  EXPECT_EQ(ValueOf(two, "A"), "2=3");
  EXPECT_EQ(ValueOf(two, "B"), std::nullopt);
  EXPECT_EQ(ValueOf({"A="}, "A"), "");
  EXPECT_THAT(Without(two, "A"), ElementsAre("AB=1"));
  EXPECT_THAT(WithVariable(two, "AB", "4"), ElementsAre("A=2=3", "AB=4"));
}

// The folders /a to /c of a sample folder: the program is a folder in a, no executable in b.
class FindProgramTest : public testing::Test {
 protected:
  FindProgramTest() {
    std::filesystem::create_directories(root_ + "/a/tool");
    for (const char* folder : {"/b", "/c"}) {
      std::filesystem::create_directory(root_ + folder);
      std::ofstream(root_ + folder + "/tool") << "#!/bin/sh\n";
    }
    std::filesystem::permissions(root_ + "/c/tool", std::filesystem::perms::owner_all);
  }
  const SampleFolder folder_;
  const std::string root_ = folder_.path();
};

TEST_F(FindProgramTest, TakesTheFirstFileThatMayBeExecuted) {
  const std::string path = "PATH=/none:" + root_ + "/a:" + root_ + "/b:" + root_ + "/c";
  EXPECT_EQ(FindProgram("tool", {path}), root_ + "/c/tool");
  EXPECT_EQ(FindProgram("tool", {"PATH=" + root_ + "/a"}), std::nullopt);
  EXPECT_EQ(FindProgram("sh", {}), FindProgram("sh", {"PATH=/usr/local/bin:/usr/bin:/bin"}));
}

TEST_F(FindProgramTest, DoesNotLookUpAPath) {
  EXPECT_EQ(FindProgram(root_ + "/c/tool", {"PATH=/none"}), root_ + "/c/tool");
  EXPECT_EQ(FindProgram(root_ + "/b/tool", {"PATH=" + root_ + "/c"}), std::nullopt);
}

TEST_F(FindProgramTest, LooksIntoTheCurrentFolderForAnEmptyPart) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(root_ + "/c");
  for (const char* path : {"PATH=", "PATH=/none:", "PATH=:/none", "PATH=/none::/none"}) {
    EXPECT_EQ(FindProgram("tool", {path}), "./tool") << path;
  }
  EXPECT_EQ(FindProgram("tool", {"PATH=/none"}), std::nullopt);
  std::filesystem::current_path(before);
}

}  // namespace
}  // namespace culprit::sys
