#include "sys/folder.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/sample_files.h"

namespace culprit::sys {
namespace {

using testing::ElementsAre;

TEST(Folder, IsToldFromWhatIsNone) {
  const SampleFolder folder;
  const auto path = [&](const char* name) { return folder.path() + "/" + name; };
  ASSERT_EQ(::mkdir(path("b").c_str(), 0700), 0);
  ASSERT_EQ(::symlink("b", path("a").c_str()), 0);
  ASSERT_EQ(::symlink("loop", path("loop").c_str()), 0);
  ASSERT_EQ(::symlink("nothing", path("dangling").c_str()), 0);
  ASSERT_EQ(::mkfifo(path(".pipe").c_str(), 0600), 0);
  EXPECT_THAT(*NamesIn(folder.path()), ElementsAre(".pipe", "a", "b", "dangling", "loop"));
  for (const char* name : {"a", "b"}) EXPECT_TRUE(IsFolder(path(name))) << name;
  for (const char* name : {".pipe", "dangling", "loop", "none", "a/none"}) {
    EXPECT_FALSE(IsFolder(path(name))) << name;
  }
  for (const char* name : {"a", "b", ".pipe", "dangling", "loop"}) {
    EXPECT_TRUE(IsThere(path(name))) << name;
  }
  EXPECT_FALSE(IsThere(path("none")));
  EXPECT_EQ(NamesIn(path("none")).error().code, base::ErrorCode::kNotFound);
  EXPECT_EQ(NamesIn(path("loop")).error().Text(),
            path("loop") + ": Too many levels of symbolic links");
  EXPECT_EQ(NamesIn(path(".pipe")).error().Text(), path(".pipe") + ": Not a directory");
}

}  // namespace
}  // namespace culprit::sys
