#include "sys/atomic_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "sys/sample_files.h"

namespace culprit::sys {
namespace {

namespace fs = std::filesystem;

class AtomicFile : public testing::Test {
 protected:
  [[nodiscard]] std::ptrdiff_t files() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }
  static std::string ReadBack(const std::string& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  const SampleFolder sample_;
  const std::string folder_ = sample_.path();
};

TEST_F(AtomicFile, ReplacesAFileAndKeepsItsPermissions) {
  const std::string path = folder_ + "/report.json";
  ASSERT_TRUE(WriteFileAtomically(path, "first"));
  ASSERT_EQ(chmod(path.c_str(), 0640), 0);
  ASSERT_TRUE(WriteFileAtomically(path, "second"));
  EXPECT_EQ(ReadBack(path), "second");
  EXPECT_EQ(fs::status(path).permissions(), fs::perms(0640));
  EXPECT_EQ(files(), 1);
}

TEST_F(AtomicFile, AFailureLeavesNothingBehind) {
  const auto into_missing = WriteFileAtomically(folder_ + "/none/report.json", "x");
  ASSERT_FALSE(into_missing);
  EXPECT_EQ(into_missing.error().Text(),
            folder_ + "/none/report.json: cannot be written: No such file or directory");
  EXPECT_FALSE(WriteFileAtomically(folder_, "x")) << "a folder cannot be replaced";
  EXPECT_EQ(files(), 0);
}

TEST_F(AtomicFile, AppendingKeepsWhatIsThere) {
  const std::string path = folder_ + "/summary.md";
  ASSERT_TRUE(AppendToFile(path, "one\n"));
  ASSERT_TRUE(AppendToFile(path, "two\n"));
  EXPECT_EQ(ReadBack(path), "one\ntwo\n");
}

TEST_F(AtomicFile, AFullDiskIsReported) {
  const auto full = WriteFileAtomically("/dev/full", "x");
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().Text(), "/dev/full: cannot be written: No space left on device");
}

}  // namespace
}  // namespace culprit::sys
