#include "sys/open_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>

#include "sys/atomic_file.h"
#include "sys/process.h"
#include "sys/sample_files.h"
#include "sys/sha256.h"

namespace culprit::sys {
namespace {

using base::ErrorCode;

class OpenedFile : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(::mkfifo(pipe_.c_str(), 0600), 0);
    ASSERT_EQ(::symlink("loop", loop_.c_str()), 0);
    ASSERT_EQ(::symlink("nothing", dangling_.c_str()), 0);
  }
  std::string ErrorOf(const std::string& path, int flags = O_RDONLY) {
    const auto file = OpenFile(path, flags);
    return file ? "" : file.error().Text();
  }

  SampleFolder folder_;
  const std::string pipe_ = folder_.path() + "/pipe", loop_ = folder_.path() + "/loop",
                    dangling_ = folder_.path() + "/dangling", text_ = folder_.path() + "/text";
};

TEST_F(OpenedFile, RefusesWhatIsNoFileAndWaitsForNobody) {
  constexpr const char* kAdvice = "; save what it holds to a file first";
  const std::string device = ": is a pipe or a device, not a file";
  EXPECT_EQ(ErrorOf(pipe_), pipe_ + device + kAdvice);
  EXPECT_EQ(ErrorOf(pipe_, O_RDWR | O_APPEND), pipe_ + device);
  EXPECT_EQ(ErrorOf(pipe_, O_WRONLY | O_APPEND), pipe_ + device);
  EXPECT_EQ(ErrorOf("/dev/zero"), "/dev/zero" + device + kAdvice);
  EXPECT_EQ(ErrorOf(folder_.path()), folder_.path() + ": is a folder, not a file");
}

TEST_F(OpenedFile, TellsALinkThatLeadsNowhereFromNoFile) {
  EXPECT_EQ(ErrorOf(dangling_), dangling_ + ": is a link that leads nowhere");
  EXPECT_EQ(ErrorOf(loop_), loop_ + ": Too many levels of symbolic links");
  const auto missing = OpenFile(text_, O_RDONLY);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
}

TEST_F(OpenedFile, ReadsFromAnywhereToTheEnd) {
  ASSERT_TRUE(WriteFileAtomically(text_, "0123456789"));
  const auto file = OpenFile(text_, O_RDONLY);
  ASSERT_TRUE(file);
  std::array<char, 4> buffer{};
  EXPECT_EQ(ReadAt(*file, 3, buffer), 4U);
  EXPECT_EQ(std::string(buffer.data(), 4), "3456");
  EXPECT_EQ(ReadAt(*file, 8, buffer), 2U);
  EXPECT_EQ(ReadAt(*file, 10, buffer), 0U);
}

// Whoever writes to a file or starts a program with one.
TEST_F(OpenedFile, IsWhatOthersOpenTheirFilesBy) {
  EXPECT_EQ(AppendToFile(pipe_, "x").error().Text(),
            pipe_ + ": cannot be written: is a pipe or a device, not a file");
  EXPECT_EQ(WriteFileAtomically(pipe_, "x").error().Text(),
            pipe_ + ": is a pipe that nobody reads");
  const auto process = Process::Start({.argv = {"/bin/true"}, .output_file = pipe_});
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().Text(), pipe_ + ": is a pipe or a device, not a file");
  EXPECT_FALSE(FileHashes().Of(pipe_, {}));
}

TEST_F(OpenedFile, HashesAreMadeAnewWhereTheRememberedOnesCannotBeRead) {
  ASSERT_TRUE(WriteFileAtomically(text_, "text"));
  for (const auto& make : {+[](const char* path) { return ::mkfifo(path, 0600); },
                           +[](const char* path) { return ::mkdir(path, 0700); }}) {
    const SampleFolder state;
    ASSERT_EQ(make((state.path() + "/hashes.json").c_str()), 0);
    const auto hash = FileHashes(state.path()).Of(text_, {});
    ASSERT_TRUE(hash) << hash.error().Text();
    EXPECT_EQ(*hash, Sha256Of("text"));
  }
}

}  // namespace
}  // namespace culprit::sys
