#include "sys/text_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "sys/sample_files.h"

namespace culprit::sys {
namespace {

class TextFile : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_.path() + "/" + name, std::ios::binary) << text;
    return folder_.path() + "/" + name;
  }
  const SampleFolder folder_;
};

TEST_F(TextFile, IsReadAsItIs) {
  const std::string bytes = std::string("a\0\xff\r\n", 5) + std::string(10'000, 'x');
  EXPECT_EQ(ReadText(Write("bytes", bytes)).value(), bytes);
  EXPECT_EQ(ReadText(Write("empty", "")).value(), "");
}

TEST_F(TextFile, OfProcIsReadThoughItsSizeIsZero) {
  struct stat info {};
  ASSERT_EQ(::stat("/proc/self/stat", &info), 0);
  ASSERT_EQ(info.st_size, 0);
  EXPECT_EQ(ReadText("/proc/self/comm").value(), "sys_test\n");
}

TEST_F(TextFile, AsLargeAsTheLimitIsReadAndNoLarger) {
  EXPECT_EQ(ReadText(Write("full", std::string(kLargestText, 'x'))).value().size(), kLargestText);
  const std::string larger = Write("larger", std::string(kLargestText + 1, 'x'));
  EXPECT_EQ(ReadText(larger).error().Text(), larger + ": is larger than 1 MiB");
}

TEST_F(TextFile, ThatIsMissingOrNoFileIsRefused) {
  const std::string missing = folder_.path() + "/none";
  EXPECT_EQ(ReadText(missing).error().code, base::ErrorCode::kNotFound);
  EXPECT_EQ(ReadText(missing).error().Text(), missing + ": No such file or directory");
  EXPECT_EQ(ReadText(folder_.path()).error().code, base::ErrorCode::kUnreadable);
  const std::string pipe = folder_.path() + "/pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(ReadText(pipe).error().Text(),
            pipe + ": is a pipe or a device, not a file; save what it holds to a file first");
}

}  // namespace
}  // namespace culprit::sys
