#include "lab/variant_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "sys/sample_files.h"

namespace culprit::lab {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using base::Status;
using experiment::Variant;

class VariantFiles : public testing::Test {
 protected:
  // A program that is a shell script.
  std::string Program(const std::string& name, const std::string& text) const {
    const std::string path = folder_.path() + "/" + name;
    std::ofstream(path) << text;
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }
  static std::string Text(const Status& status) { return status ? "" : status.error().Text(); }

  const sys::SampleFolder folder_;
  const std::string path_ = folder_.path() + "/x";
};

TEST_F(VariantFiles, OfWhatIsNoFileAreRefused) {
  const std::string no_program = path_ + ": is no program that can be run";
  EXPECT_EQ(CheckBinary({.binary = path_}).error().code, ErrorCode::kNotFound);
  fs::create_symlink("x", path_);
  EXPECT_EQ(Text(CheckBinary({.binary = path_})), no_program);
  EXPECT_EQ(Text(CheckModel({.model = path_})), path_ + ": Too many levels of symbolic links");
  EXPECT_EQ(Text(CheckFolder({.working_directory = path_})),
            path_ + ": is no folder that a server can be started in");
  fs::remove(path_);
  ASSERT_EQ(::mkfifo(path_.c_str(), 0700), 0);
  EXPECT_EQ(Text(CheckBinary({.binary = path_})), no_program);
  EXPECT_EQ(Text(CheckModel({.model = path_})),
            path_ + ": is a pipe or a device, not a file; save what it holds to a file first");
  fs::remove(path_);
  fs::create_directory(path_);
  EXPECT_EQ(Text(CheckBinary({.binary = path_})), no_program);
  EXPECT_EQ(Text(CheckModel({.model = path_})), path_ + ": is a folder, not a file");
  EXPECT_EQ(Text(CheckFolder({.working_directory = path_})), "");
}

TEST_F(VariantFiles, AreLookedForFromTheWorkingDirectory) {
  Program("server", "#!/bin/sh\n");
  EXPECT_EQ(Text(CheckBinary({.binary = "./server"})), "./server: is no program that can be run");
  const Variant there{.binary = "./server", .model = "server", .working_directory = folder_.path()};
  EXPECT_EQ(Text(CheckBinary(there)), "");
  EXPECT_EQ(Text(CheckModel(there)), "");
  EXPECT_EQ(Text(TryBinary(there)), "");
  const Variant whole{.binary = "/bin/true", .working_directory = folder_.path()};
  EXPECT_EQ(Text(CheckBinary(whole)), "");
}

TEST_F(VariantFiles, ABinaryIsTriedInTheEnvironmentOfItsServer) {
  const std::string script =
      Program("server",
              "#!/bin/sh\n[ \"$1 $A\" = '--version 1' ] || { echo \"error: A is $A\"; exit 127; }");
  EXPECT_EQ(Text(TryBinary({.binary = script, .environment = {{"A", "1"}}})), "");
  EXPECT_EQ(Text(TryBinary({.binary = script, .environment = {{"A", "2"}}})),
            script + ": cannot even tell its --version (exit 127): error: A is 2");
}

TEST_F(VariantFiles, ABinaryThatTheMachineCannotExecuteIsNamed) {
  const std::string interpreter = Program("a", "#!/no/such/interpreter\n");
  EXPECT_EQ(Text(TryBinary({.binary = interpreter})),
            interpreter + ": cannot be started: No such file or directory");
  // The header of a program for another machine (EM_68K).
  const std::string foreign = Program("b", std::string("\x7f"
                                                       "ELF\1\2\1\0\0\0\0\0\0\0\0\0\0\2\0\4",
                                                       20) +
                                               std::string(100, '\0'));
  EXPECT_EQ(Text(TryBinary({.binary = foreign})),
            foreign + ": cannot be started: Exec format error");
}

}  // namespace
}  // namespace culprit::lab
