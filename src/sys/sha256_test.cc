#include "sys/sha256.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

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

}  // namespace
}  // namespace culprit::sys
