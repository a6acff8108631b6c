#include "sys/source.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <lzma.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdint>
#include <filesystem>
#include <fstream>

#include "sys/sample_files.h"

namespace culprit::sys {
namespace {

using base::ErrorCode;

std::string Gzipped(std::string_view text) {
  z_stream z{};
  deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&z, text.size()), '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

std::string Xzipped(std::string_view text) {
  std::string out(lzma_stream_buffer_bound(text.size()), '\0');
  std::size_t at = 0;
  lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, nullptr,
                          reinterpret_cast<const std::uint8_t*>(text.data()), text.size(),
                          reinterpret_cast<std::uint8_t*>(out.data()), &at, out.size());
  out.resize(at);
  return out;
}

// Text is some bytes that compress, but not to nothing.
std::string Text(std::size_t size) {
  std::string text;
  std::uint32_t state = 1;
  while (text.size() < size) {
    state = state * 1664525 + 1013904223;
    text += "kernel " + std::to_string(state >> 20) + "\n";
  }
  text.resize(size);
  return text;
}

// Drained is what a stream gives until its end or its failure, in reads of few bytes.
struct Drained {
  std::string text;
  bool failed = false;
  ErrorCode code{};
};
Drained Drain(const Source& source, std::size_t bytes_at_a_time) {
  Drained drained;
  auto stream = source.Stream();
  std::string buffer(bytes_at_a_time, '\0');
  while (stream) {
    const auto n = (*stream)->Read(buffer);
    if (!n) {
      drained.failed = true;
      drained.code = n.error().code;
      break;
    }
    if (*n == 0) break;
    drained.text += buffer.substr(0, *n);
  }
  return drained;
}

class SourceTest : public testing::Test {
 protected:
  std::string Write(const std::string& name, std::string_view bytes) {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  const SampleFolder sample_;
  const std::string folder_ = sample_.path();
};

TEST_F(SourceTest, ReadsAPlainFile) {
  const std::string text = Text(100'000);
  const std::string path = Write("trace.csv", text);
  const auto source = Source::Open(path);
  ASSERT_TRUE(source) << source.error().Text();
  EXPECT_EQ(source->path(), path);
  EXPECT_EQ(source->compression(), Compression::kNone);
  EXPECT_TRUE(source->on_disk());
  EXPECT_EQ(source->head(), text.substr(0, 65'536));
  EXPECT_EQ(source->ReadAll()->view(), text);
  EXPECT_EQ(Drain(*source, 999).text, text);
}

TEST_F(SourceTest, UnpacksWhatItFindsCompressedUnderAnyName) {
  const std::string text = Text(3'000'000);
  const struct {
    Compression compression;
    std::string bytes;
  } cases[] = {{Compression::kGzip, Gzipped(text)}, {Compression::kXz, Xzipped(text)}};
  for (const auto& [compression, bytes] : cases) {
    const auto source = Source::Open(Write("results.db", bytes));
    ASSERT_TRUE(source) << source.error().Text();
    EXPECT_EQ(source->compression(), compression);
    EXPECT_FALSE(source->on_disk());
    EXPECT_EQ(source->head(), text.substr(0, 65'536));
    EXPECT_TRUE(source->ReadAll()->view() == text);
    EXPECT_TRUE(Drain(*source, 4'000).text == text);
    EXPECT_TRUE(Drain(*source, 4'000).text == text) << "a second stream starts at the front";
  }
}

TEST_F(SourceTest, ReadsPackedFilesThatWereConcatenated) {
  for (const auto pack : {Gzipped, Xzipped}) {
    const auto source = Source::Open(Write("two", pack("one, ") + pack("") + pack("two")));
    ASSERT_TRUE(source) << source.error().Text();
    EXPECT_EQ(source->ReadAll()->view(), "one, two");
    EXPECT_EQ(Drain(*source, 1).text, "one, two");
  }
}

TEST_F(SourceTest, RefusesWhatIsNoFile) {
  const auto folder = Source::Open(folder_);
  EXPECT_EQ(folder.error().code, ErrorCode::kUnreadable);
  EXPECT_EQ(folder.error().Text(), folder_ + ": is a folder, not a file");
  const auto missing = Source::Open(folder_ + "/missing");
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(missing.error().Text(), folder_ + "/missing: No such file or directory");
}

TEST_F(SourceTest, RefusesAPipeInsteadOfWaitingForIt) {
  const std::string pipe = folder_ + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const auto source = Source::Open(pipe);
  EXPECT_EQ(source.error().code, ErrorCode::kUnreadable);
  EXPECT_EQ(source.error().Text(),
            pipe + ": is a pipe or a device, not a file; save what it holds to a file first");
  EXPECT_EQ(Source::Open("/dev/zero").error().code, ErrorCode::kUnreadable);
}

TEST_F(SourceTest, SaysWhenThereIsNothingToRead) {
  const auto empty = Source::Open(Write("empty", ""));
  EXPECT_EQ(empty.error().code, ErrorCode::kNotATrace);
  EXPECT_EQ(empty.error().message, "the file is empty");
  for (const auto pack : {Gzipped, Xzipped}) {
    const auto packed = Source::Open(Write("packed", pack("")));
    EXPECT_EQ(packed.error().code, ErrorCode::kNotATrace);
    EXPECT_EQ(packed.error().message, "the compressed file holds nothing");
  }
}

// At every length a torn file yields a prefix of what it held and then says that it is damaged.
void ExpectPrefixesOf(const std::string& text, const std::string& packed, std::size_t magic) {
  for (std::size_t length = magic; length < packed.size(); ++length) {
    const Source source = Source::FromMemory("torn", packed.substr(0, length));
    const Drained drained = Drain(source, 100);
    ASSERT_TRUE(drained.failed) << length;
    ASSERT_EQ(drained.code, ErrorCode::kDamagedTrace) << length;
    ASSERT_EQ(drained.text, text.substr(0, drained.text.size())) << length;
    ASSERT_EQ(source.ReadAll().error().message, "the compressed file breaks off") << length;
  }
}

TEST(Source, TornGzipYieldsAPrefixAndThenFails) {
  const std::string text = Text(4'000);
  ExpectPrefixesOf(text, Gzipped(text), 2);
}

TEST(Source, TornXzYieldsAPrefixAndThenFails) {
  const std::string text = Text(4'000);
  ExpectPrefixesOf(text, Xzipped(text), 6);
}

TEST(Source, TornSecondMemberFailsAfterTheFirst) {
  const std::string first = Gzipped("first ");
  const std::string both = first + Gzipped("second");
  for (std::size_t length = first.size() + 1; length < both.size(); ++length) {
    const Drained drained = Drain(Source::FromMemory("torn", both.substr(0, length)), 100);
    ASSERT_TRUE(drained.failed) << length;
    ASSERT_TRUE(drained.text.starts_with("first ")) << length;
  }
}

TEST(Source, DamagedBytesNeverReadAsGood) {
  const std::string text = Text(2'000);
  for (const auto pack : {Gzipped, Xzipped}) {
    const std::string packed = pack(text);
    for (std::size_t at = 12; at < packed.size(); ++at) {
      std::string damaged = packed;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
      ASSERT_TRUE(Drain(Source::FromMemory("damaged", damaged), 1'000).failed) << at;
    }
  }
}

TEST_F(SourceTest, OpensATornFileAsFarAsItReads) {
  const std::string text = Text(300'000);
  const std::string packed = Gzipped(text);
  const auto source = Source::Open(Write("torn.gz", packed.substr(0, packed.size() - 20)));
  ASSERT_TRUE(source) << source.error().Text();
  EXPECT_EQ(source->head(), text.substr(0, 65'536));
  EXPECT_EQ(source->ReadAll().error().code, ErrorCode::kDamagedTrace);
  const auto nothing = Source::Open(Write("nothing.gz", packed.substr(0, 5)));
  EXPECT_EQ(nothing.error().Text(),
            folder_ + "/nothing.gz: the compressed file breaks off; copy or compress it again");
}

TEST(Source, RefusesAnXzFileThatWantsTooMuchMemory) {
  // xz --lzma2=dict=1GiB of "x\n", torn after its headers: the size of the dictionary is in them.
  std::string packed = Xzipped("x\n");
  lzma_options_lzma options;
  lzma_lzma_preset(&options, 0);
  options.dict_size = 1u << 30;
  lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, nullptr}};
  lzma_block block{};
  block.check = LZMA_CHECK_CRC32;
  block.compressed_size = LZMA_VLI_UNKNOWN;
  block.uncompressed_size = LZMA_VLI_UNKNOWN;
  block.filters = filters;
  ASSERT_EQ(lzma_block_header_size(&block), LZMA_OK);
  packed.replace(12, std::string::npos, block.header_size, '\0');
  ASSERT_EQ(lzma_block_header_encode(&block, reinterpret_cast<std::uint8_t*>(&packed[12])),
            LZMA_OK);
  const auto refused = Source::FromMemory("greedy", packed).ReadAll();
  EXPECT_EQ(refused.error().Text(),
            "greedy: needs more than 256 MiB to unpack; compress it again with xz -9 or less");
}

TEST(Source, FromMemoryIsNoFileOnDiskAndMayBeEmpty) {
  const Source empty = Source::FromMemory("nothing", "");
  EXPECT_EQ(empty.path(), "nothing");
  EXPECT_EQ(empty.head(), "");
  EXPECT_EQ(empty.ReadAll()->view(), "");
  EXPECT_FALSE(empty.on_disk());
  const Source packed = Source::FromMemory("some", Gzipped("some text"));
  EXPECT_EQ(packed.head(), "some text");
  EXPECT_EQ(packed.ReadAll()->view(), "some text");
}

TEST(Source, BytesOutliveTheirSource) {
  Bytes bytes;
  {
    const Source source = Source::FromMemory("short-lived", std::string(1'000, 'x'));
    bytes = *source.ReadAll();
  }
  EXPECT_EQ(bytes.view(), std::string(1'000, 'x'));
}

TEST(Source, RefusesToUnpackMoreThanMemoryHolds) {
  const std::string zeros(8 << 20, '\0');
  for (const auto pack : {Gzipped, Xzipped}) {
    const Source bomb = Source::FromMemory("bomb", pack(zeros));
    EXPECT_EQ(bomb.ReadAll(zeros.size())->view().size(), zeros.size());
    const auto refused = bomb.ReadAll(zeros.size() - 1);
    EXPECT_EQ(refused.error().code, ErrorCode::kUnreadable);
    EXPECT_EQ(refused.error().Text(),
              "bomb: unpacks to more than 7 MiB, too much for this machine's memory; unpack it to "
              "a file first");
  }
  const Source plain = Source::FromMemory("plain", zeros);
  EXPECT_TRUE(plain.ReadAll(1)) << "a file that is as large as it looks is nobody's trick";
}

}  // namespace
}  // namespace culprit::sys
