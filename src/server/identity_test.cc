#include "server/identity.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <fstream>

#include "sys/sample_files.h"

namespace culprit::server {
namespace {

using base::ErrorCode;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;

const sys::FileHashes kHashes;
const sys::StopSignal kNever;

void Write(const std::string& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

TEST(Identity, HoldsTheBinaryAndWhatTheLoaderGivesIt) {
  const auto identity = IdentifyBinary("/bin/sh", sys::OwnEnvironment(), kHashes, kNever);
  ASSERT_TRUE(identity) << identity.error().Text();
  EXPECT_THAT(identity->objects, Contains(Field(&LoadedObject::path, HasSubstr("libc.so"))));
  EXPECT_THAT(identity->objects, Contains(Field(&LoadedObject::path, HasSubstr("ld-"))));
  EXPECT_TRUE(identity->missing.empty());
  EXPECT_FALSE(identity->limit);
}

TEST(Identity, OfALiveProcessIsWhatItHasMapped) {
  const auto identity = IdentifyProcess(::getpid(), kHashes, kNever);
  ASSERT_TRUE(identity) << identity.error().Text();
  EXPECT_THAT(identity->objects.front().path, HasSubstr("server_test"));
  EXPECT_THAT(identity->objects, Contains(Field(&LoadedObject::path, HasSubstr("libc.so"))));
}

TEST(Identity, OfAScriptIsItsFile) {
  const sys::SampleFolder folder;
  const std::string script = folder.path() + "/s", other = folder.path() + "/t";
  Write(script, "#!/bin/sh\ntouch ran\n");
  Write(other, "#!/bin/sh\ntouch ran\n");
  const auto identity = IdentifyBinary(script, {}, kHashes, kNever);
  ASSERT_TRUE(identity) << identity.error().Text();
  EXPECT_EQ(identity->objects.size(), 1u);
  EXPECT_EQ(identity->limit, "a script: only the file itself was hashed");
  EXPECT_EQ(identity->digest(), IdentifyBinary(other, {}, kHashes, kNever)->digest())
      << "the same bytes elsewhere are the same server";
  Write(other, "#!/bin/sh\n");
  EXPECT_NE(identity->digest(), IdentifyBinary(other, {}, kHashes, kNever)->digest());
}

TEST(Identity, SaysWhatIsNotThere) {
  const auto binary = IdentifyBinary("/none/llama-server", {}, kHashes, kNever);
  ASSERT_FALSE(binary);
  EXPECT_EQ(binary.error().Text(), "/none/llama-server: No such file or directory");
  const auto process = IdentifyProcess(-1, kHashes, kNever);
  ASSERT_FALSE(process);
  EXPECT_EQ(process.error().code, ErrorCode::kNotFound);
}

TEST(FindText, NamesTheObjectThatHoldsIt) {
  const sys::SampleFolder folder;
  const std::string a = folder.path() + "/a", b = folder.path() + "/b";
  Write(a, "GGML_CUDA");
  // Across the border of two reads.
  Write(b, std::string((1 << 20) - 7, 'x') + "LLAMA_FLASHHEAD_PROBES" + std::string(100, 'y'));
  const std::vector<LoadedObject> objects = {{a, ""}, {b, ""}};
  EXPECT_EQ(FindText(objects, "LLAMA_FLASHHEAD_PROBES", kNever).value(), b);
  EXPECT_EQ(FindText(objects, "GGML_CUDA", kNever).value(), a);
  EXPECT_EQ(FindText(objects, "LLAMA_OTHER", kNever).value(), std::nullopt);
}

}  // namespace
}  // namespace culprit::server
