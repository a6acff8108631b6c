#include "sys/sha256.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "sys/atomic_file.h"
#include "sys/sample_files.h"

namespace culprit::sys {
namespace {

using base::ErrorCode;

constexpr const char* kAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

void Write(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

TEST(Sha256, IsTheOneOfTheStandard) {
  EXPECT_EQ(Sha256Of("abc"), kAbc);
  Sha256 hash;
  hash.Update("a");
  hash.Update("bc");
  EXPECT_EQ(hash.Hex(), kAbc);
}

TEST(FileHashes, RemembersAFileUntilItChanges) {
  const SampleFolder folder;
  const std::string path = folder.path() + "/model.gguf", cache = folder.path() + "/cache";
  Write(path, "abc");
  const FileHashes hashes(cache);
  const StopSignal stop;
  EXPECT_EQ(hashes.Of(path, stop), kAbc);
  stop.Request();  // from here on only what is remembered can be told
  EXPECT_EQ(hashes.Of(path, stop), kAbc);
  Write(path, "abd!");
  const auto changed = hashes.Of(path, stop);
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.error().code, ErrorCode::kInterrupted);
}

TEST(FileHashes, ADamagedCacheIsNoError) {
  const SampleFolder folder;
  const std::string path = folder.path() + "/f";
  Write(path, "abc");
  for (const char* text : {"", "{", "[]", "{\"hashes\": 3}", "{\"hashes\": {\"1\": 2}}"}) {
    Write(folder.path() + "/hashes.json", text);
    EXPECT_EQ(FileHashes(folder.path()).Of(path, StopSignal()), kAbc) << text;
  }
}

TEST(FileHashes, SaysWhatCannotBeHashed) {
  const SampleFolder folder;
  const auto missing = FileHashes().Of(folder.path() + "/none", StopSignal());
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  const auto directory = FileHashes().Of(folder.path(), StopSignal());
  ASSERT_FALSE(directory);
  EXPECT_EQ(directory.error().Text(), folder.path() + ": is a folder, not a file");
}

TEST(FileHashes, TellHowFarTheyAre) {
  const SampleFolder folder;
  const std::string path = folder.path() + "/model.gguf";
  ASSERT_TRUE(WriteFileAtomically(path, std::string((3U << 20) + 5, 'x')));
  std::vector<std::uint64_t> told;
  const FileHashes hashes(folder.path(), [&](const std::string& file, auto done, auto size) {
    EXPECT_EQ(file, path);
    EXPECT_EQ(size, (3U << 20) + 5U);
    told.push_back(done);
  });
  ASSERT_TRUE(hashes.Of(path, {}));
  EXPECT_EQ(told, (std::vector<std::uint64_t>{1U << 20, 2U << 20, 3U << 20, (3U << 20) + 5}));
  ASSERT_TRUE(hashes.Of(path, {}));
  EXPECT_EQ(told.size(), 4U) << "what is remembered takes no time";
}

}  // namespace
}  // namespace culprit::sys
