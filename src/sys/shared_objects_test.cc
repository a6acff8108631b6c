#include "sys/shared_objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "sys/sample_files.h"

namespace culprit::sys {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string PathOf(const SharedObjects& objects, std::string_view name) {
  for (const std::string& path : objects.paths) {
    if (path.find(name) != std::string::npos) return path;
  }
  return {};
}

TEST(SharedObjects, AreWhatTheLoaderGivesABinary) {
  EXPECT_EQ(KindOf("/bin/sh"), BinaryKind::kDynamic);
  const auto objects = AskLoader("/bin/sh", OwnEnvironment());
  ASSERT_TRUE(objects) << objects.error().Text();
  EXPECT_THAT(objects->paths, Contains(HasSubstr("libc.so")));
  EXPECT_THAT(objects->missing, IsEmpty());
}

TEST(SharedObjects, ExportWhatOthersCanBindTo) {
  const auto objects = AskLoader("/bin/sh", OwnEnvironment());
  ASSERT_TRUE(objects);
  const std::string libc = PathOf(*objects, "libc.so");
  EXPECT_TRUE(Exports(libc, "malloc"));
  EXPECT_FALSE(Exports(libc, "mallo"));
  EXPECT_FALSE(Exports("/bin/sh", "malloc")) << "it only needs it";
}

TEST(SharedObjects, ADamagedOneExportsNothing) {
  const SampleFolder folder;
  const std::string cut = folder.path() + "/cut.so";
  std::ifstream whole("/bin/sh", std::ios::binary);
  std::string bytes(std::istreambuf_iterator<char>(whole), {});
  for (const std::size_t kept :
       {std::size_t{0}, std::size_t{40}, std::size_t{64}, bytes.size() / 2}) {
    std::ofstream(cut, std::ios::binary) << bytes.substr(0, kept);
    EXPECT_FALSE(Exports(cut, "malloc")) << kept;
  }
  EXPECT_EQ(KindOf(cut), BinaryKind::kDynamic);
  std::ofstream(cut) << "#!/bin/sh\n";
  EXPECT_EQ(KindOf(cut), BinaryKind::kNoElf);
  EXPECT_EQ(KindOf(folder.path() + "/none").error().code, base::ErrorCode::kNotFound);
}

}  // namespace
}  // namespace culprit::sys
