#include "sys/source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <lzma.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "sys/open_file.h"

namespace culprit::sys {
namespace {

using base::ErrorCode;
using base::Fail;
using base::Result;

constexpr std::size_t kHeadBytes = std::size_t{64} * 1024;
constexpr std::size_t kInputBytes = std::size_t{256} * 1024;
constexpr std::size_t kLargestRead = std::size_t{1} << 30;  // zlib counts in 32 bits

class FileStream final : public ByteStream {
 public:
  FileStream(Fd file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

  Result<std::size_t> Read(std::span<char> buffer) override {
    for (;;) {
      const ssize_t n = ::read(file_.get(), buffer.data(), buffer.size());
      if (n >= 0) return static_cast<std::size_t>(n);
      if (errno != EINTR) return Fail(ErrorCode::kUnreadable, std::strerror(errno), path_);
    }
  }

 private:
  Fd file_;
  std::string path_;
};

class MemoryStream final : public ByteStream {
 public:
  explicit MemoryStream(std::shared_ptr<const std::string> bytes) : bytes_(std::move(bytes)) {}

  Result<std::size_t> Read(std::span<char> buffer) override {
    const std::size_t n = std::min(buffer.size(), bytes_->size() - at_);
    std::memcpy(buffer.data(), bytes_->data() + at_, n);
    at_ += n;
    return n;
  }

 private:
  std::shared_ptr<const std::string> bytes_;
  std::size_t at_ = 0;
};

base::Error BrokenOff(const std::string& path) {
  return {ErrorCode::kDamagedTrace, "the compressed file breaks off", path,
          "copy or compress it again"};
}
base::Error Corrupt(const std::string& path) {
  return {ErrorCode::kDamagedTrace, "the compressed data is damaged", path,
          "copy or compress it again"};
}

base::Error TooLarge(const std::string& path, std::size_t limit) {
  return {
      ErrorCode::kUnreadable,
      fmt::format("unpacks to more than {} MiB, too much for this machine's memory", limit >> 20),
      path, "unpack it to a file first"};
}

// GzipStream reads any number of gzip members one after another, as gzip -c a b does.
class GzipStream final : public ByteStream {
 public:
  GzipStream(std::unique_ptr<ByteStream> in, std::string path)
      : in_(std::move(in)), path_(std::move(path)), input_(kInputBytes) {
    inflateInit2(&z_, 15 + 16);  // 16: a gzip header, not a zlib one
  }
  GzipStream(const GzipStream&) = delete;
  GzipStream& operator=(const GzipStream&) = delete;
  ~GzipStream() override { inflateEnd(&z_); }

  Result<std::size_t> Read(std::span<char> buffer) override {
    buffer = buffer.first(std::min(buffer.size(), kLargestRead));
    z_.next_out = reinterpret_cast<Bytef*>(buffer.data());
    z_.avail_out = static_cast<uInt>(buffer.size());
    while (z_.avail_out == buffer.size()) {
      if (z_.avail_in == 0) {
        auto n = in_->Read(input_);
        if (!n) return Fail(std::move(n.error()));
        if (*n == 0) {
          if (between_members_) return std::size_t{0};
          return Fail(BrokenOff(path_));
        }
        z_.next_in = reinterpret_cast<Bytef*>(input_.data());
        z_.avail_in = static_cast<uInt>(*n);
      }
      between_members_ = false;
      const int code = inflate(&z_, Z_NO_FLUSH);
      if (code == Z_STREAM_END) {
        between_members_ = true;
        inflateReset(&z_);
      } else if (code != Z_OK && code != Z_BUF_ERROR) {
        return Fail(Corrupt(path_));
      }
    }
    return buffer.size() - z_.avail_out;
  }

 private:
  std::unique_ptr<ByteStream> in_;
  std::string path_;
  std::vector<char> input_;
  z_stream z_{};
  bool between_members_ = false;
};

class XzStream final : public ByteStream {
 public:
  XzStream(std::unique_ptr<ByteStream> in, std::string path)
      : in_(std::move(in)), path_(std::move(path)), input_(kInputBytes) {
    // The limit keeps a hostile header from asking for gigabytes; xz -9 needs 65 MiB.
    ready_ = lzma_stream_decoder(&lzma_, 256u << 20, LZMA_CONCATENATED) == LZMA_OK;
  }
  XzStream(const XzStream&) = delete;
  XzStream& operator=(const XzStream&) = delete;
  ~XzStream() override { lzma_end(&lzma_); }

  Result<std::size_t> Read(std::span<char> buffer) override {
    if (!ready_) return Fail(Corrupt(path_));
    lzma_.next_out = reinterpret_cast<std::uint8_t*>(buffer.data());
    lzma_.avail_out = buffer.size();
    while (lzma_.avail_out == buffer.size() && !ended_) {
      if (lzma_.avail_in == 0 && !input_ended_) {
        auto n = in_->Read(input_);
        if (!n) return Fail(std::move(n.error()));
        input_ended_ = *n == 0;
        lzma_.next_in = reinterpret_cast<const std::uint8_t*>(input_.data());
        lzma_.avail_in = *n;
      }
      switch (lzma_code(&lzma_, input_ended_ ? LZMA_FINISH : LZMA_RUN)) {
        case LZMA_OK:
          break;
        case LZMA_STREAM_END:
          ended_ = true;
          break;
        case LZMA_MEMLIMIT_ERROR:
          return Fail(ErrorCode::kUnreadable, "needs more than 256 MiB to unpack", path_,
                      "compress it again with xz -9 or less");
        case LZMA_BUF_ERROR:
          return Fail(BrokenOff(path_));
        default:
          return Fail(Corrupt(path_));
      }
    }
    return buffer.size() - lzma_.avail_out;
  }

 private:
  std::unique_ptr<ByteStream> in_;
  std::string path_;
  std::vector<char> input_;
  lzma_stream lzma_ = LZMA_STREAM_INIT;
  bool ready_ = false;
  bool input_ended_ = false;
  bool ended_ = false;
};

Compression Detect(std::string_view raw) {
  using std::string_view_literals::operator""sv;
  if (raw.starts_with("\x1f\x8b"sv)) return Compression::kGzip;
  if (raw.starts_with("\xfd\x37zXZ\0"sv)) return Compression::kXz;
  return Compression::kNone;
}

std::unique_ptr<ByteStream> Decompressed(std::unique_ptr<ByteStream> raw, Compression compression,
                                         const std::string& path) {
  switch (compression) {
    case Compression::kNone:
      return raw;
    case Compression::kGzip:
      return std::make_unique<GzipStream>(std::move(raw), path);
    case Compression::kXz:
      return std::make_unique<XzStream>(std::move(raw), path);
  }
  return raw;
}

// FillFrom reads up to wanted bytes. A stream that fails after its first bytes still gives them:
// the reader that comes later meets the failure in its place.
Result<std::string> FillFrom(ByteStream& stream, std::size_t wanted) {
  std::string text(wanted, '\0');
  std::size_t have = 0;
  while (have < wanted) {
    auto n = stream.Read(std::span(text).subspan(have));
    if (!n && have == 0) return Fail(std::move(n.error()));
    if (!n || *n == 0) break;
    have += *n;
  }
  text.resize(have);
  return text;
}

Result<std::unique_ptr<ByteStream>> OpenRaw(const std::string& path) {
  auto file = OpenFile(path, O_RDONLY);
  if (!file) return Fail(std::move(file.error()));
  return std::make_unique<FileStream>(*std::move(file), path);
}

}  // namespace

bool IsCompressed(std::string_view bytes) { return Detect(bytes) != Compression::kNone; }

Result<Source> Source::Open(const std::string& path) {
  auto raw = OpenRaw(path);
  if (!raw) return Fail(std::move(raw.error()));
  auto start = FillFrom(**raw, 16);
  if (!start) return Fail(std::move(start.error()));
  if (start->empty()) {
    return Fail(ErrorCode::kNotATrace, "the file is empty", path,
                "what should have written it recorded nothing or was killed before it wrote");
  }
  Source source;
  source.path_ = path;
  source.compression_ = Detect(*start);
  auto stream = source.Stream();
  if (!stream) return Fail(std::move(stream.error()));
  auto head = FillFrom(**stream, kHeadBytes);
  if (!head) return Fail(std::move(head.error()));
  if (head->empty()) {
    return Fail(ErrorCode::kNotATrace, "the compressed file holds nothing", path);
  }
  source.head_ = *std::move(head);
  return source;
}

Source Source::FromMemory(std::string name, std::string bytes) {
  Source source;
  source.path_ = std::move(name);
  source.compression_ = Detect(bytes);
  source.memory_ = std::make_shared<const std::string>(std::move(bytes));
  if (auto stream = source.Stream()) {
    if (auto head = FillFrom(**stream, kHeadBytes)) source.head_ = *std::move(head);
  }
  return source;
}

Result<std::unique_ptr<ByteStream>> Source::Stream() const {
  if (memory_) {
    return Decompressed(std::make_unique<MemoryStream>(memory_), compression_, path_);
  }
  auto raw = OpenRaw(path_);
  if (!raw) return raw;
  return Decompressed(*std::move(raw), compression_, path_);
}

Result<Bytes> Source::ReadAll(std::size_t unpacked_limit) const {
  if (memory_ && compression_ == Compression::kNone) return Bytes(memory_, *memory_);
  auto stream = Stream();
  if (!stream) return Fail(std::move(stream.error()));
  auto text = std::make_shared<std::string>();
  std::size_t have = 0;
  for (;;) {
    if (text->size() - have < kInputBytes) text->resize(std::max(4 * kInputBytes, have * 2));
    auto n = (*stream)->Read(std::span(*text).subspan(have));
    if (!n) return Fail(std::move(n.error()));
    if (*n == 0) break;
    have += *n;
    if (compression_ != Compression::kNone && have > unpacked_limit) {
      return Fail(TooLarge(path_, unpacked_limit));
    }
  }
  text->resize(have);
  const std::string_view view = *text;
  return Bytes(std::move(text), view);
}

std::size_t ThirdOfMemory() {
  const auto pages = static_cast<std::size_t>(std::max(0L, ::sysconf(_SC_PHYS_PAGES)));
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) / 3;
}

Result<Bytes> ReadWhole(const std::string& path) {
  const auto source = Source::Open(path);
  if (!source) return Fail(source.error());
  return source->ReadAll();
}

}  // namespace culprit::sys
