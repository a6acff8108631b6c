#include "sys/sqlite_page.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace culprit::sys {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::size_t kLeafHeader = 8;
constexpr std::size_t kInteriorHeader = 12;

std::uint32_t BigEndian(const std::uint8_t* at, std::size_t bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value = value << 8 | at[i];
  return value;
}

std::uint64_t BigEndian64(const std::uint8_t* at) {
  std::uint64_t value = 0;
  std::memcpy(&value, at, sizeof value);
  return __builtin_bswap64(value);
}

std::uint64_t Hash(std::span<const std::uint8_t> bytes) {
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < bytes.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, std::min<std::size_t>(8, bytes.size() - i));
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 32;
  }
  return hash;
}

// Cursor moves over the bytes of one cell. Once something does not fit, ok() is false for good.
class Cursor {
 public:
  Cursor(const std::uint8_t* at, const std::uint8_t* end) : at_(at), end_(end) {}
  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] const std::uint8_t* at() const { return at_; }
  [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }

  // A varint: seven bits a byte, the ninth byte whole.
  std::uint64_t Varint() {
    if (at_ < end_ && *at_ < 0x80) return *at_++;
    std::uint64_t value = 0;
    for (int i = 0; i < 9; ++i) {
      if (at_ == end_) break;
      const std::uint8_t byte = *at_++;
      if (i == 8) return value << 8 | byte;
      value = value << 7 | (byte & 0x7fu);
      if (byte < 0x80) return value;
    }
    ok_ = false;
    return 0;
  }

 private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
  bool ok_ = true;
};

// Serial types 0 to 11: bytes of content. 7 is a double, 8 and 9 are the constants 0 and 1.
constexpr std::uint8_t kContentBytes[] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};

std::uint64_t ContentBytes(std::uint64_t serial_type) {
  return serial_type < 12 ? kContentBytes[serial_type] : (serial_type - 12) / 2;
}

bool IsInteger(std::uint64_t serial_type) { return serial_type >= 1 && serial_type <= 6; }

}  // namespace

PageFile::PageFile(const SqliteDatabase& database)
    : page_size_(database.page_size()),
      usable_size_(database.page_size() - database.reserved_bytes()),
      pages_(database.bytes() / database.page_size()) {
  if (database.path().empty()) {
    const std::string_view bytes = database.memory();
    memory_ = {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
  } else {
    fd_ = ::open(database.path().c_str(), O_RDONLY | O_CLOEXEC);
  }
}

PageFile::~PageFile() {
  if (fd_ >= 0) ::close(fd_);
}

std::span<const std::uint8_t> PageFile::Read(std::uint32_t page, std::size_t count) {
  if (page == 0 || count > pages_ || page - 1 > pages_ - count) return {};
  const std::size_t offset = (page - std::size_t{1}) * page_size_;
  const std::size_t size = count * page_size_;
  if (!memory_.empty()) return memory_.subspan(offset, size);
  if (buffer_.size() < size) buffer_.resize(size);
  const ssize_t n = ::pread(fd_, buffer_.data(), size, static_cast<off_t>(offset));
  if (n != static_cast<ssize_t>(size)) return {};
  return std::span(buffer_).first(size);
}

BtreePage::BtreePage(std::span<const std::uint8_t> bytes) : bytes_(bytes) {
  if (bytes_.size() < kInteriorHeader) return;
  kind_ = bytes_[0];
  cells_ = BigEndian(bytes_.data() + 3, 2);
  const std::size_t header = is_leaf() ? kLeafHeader : kInteriorHeader;
  if (header + 2 * cells_ > bytes_.size()) kind_ = 0;
}

std::size_t BtreePage::CellAt(std::size_t cell) const {
  const std::size_t header = is_leaf() ? kLeafHeader : kInteriorHeader;
  return BigEndian(bytes_.data() + header + 2 * cell, 2);
}

std::optional<BtreePage::Child> BtreePage::ReadChild(std::size_t cell) const {
  const std::size_t at = CellAt(cell);
  if (at + 4 > bytes_.size()) return std::nullopt;
  Cursor cursor(bytes_.data() + at + 4, bytes_.data() + bytes_.size());
  const auto rowid = static_cast<std::int64_t>(cursor.Varint());
  if (!cursor.ok()) return std::nullopt;
  return Child{BigEndian(bytes_.data() + at, 4), rowid};
}

std::uint32_t BtreePage::last_child() const { return BigEndian(bytes_.data() + 8, 4); }

std::optional<std::uint32_t> BtreePage::FirstChild() const {
  if (!is_interior()) return std::nullopt;
  if (cells_ == 0) return last_child();
  const auto child = ReadChild(0);
  if (!child) return std::nullopt;
  return child->page;
}

std::optional<BtreePage::Row> BtreePage::ReadRow(std::size_t cell) const {
  const std::size_t at = CellAt(cell);
  if (at >= bytes_.size()) return std::nullopt;
  Cursor cursor(bytes_.data() + at, bytes_.data() + bytes_.size());
  const std::uint64_t payload = cursor.Varint();
  const auto rowid = static_cast<std::int64_t>(cursor.Varint());
  // A longer payload goes on in overflow pages.
  if (!cursor.ok() || payload > bytes_.size() - 35 || payload > cursor.left()) return std::nullopt;
  return Row{rowid, {cursor.at(), static_cast<std::size_t>(payload)}};
}

bool RecordDecoder::Decode(std::span<const std::uint8_t> record, IntegerRow& row) {
  // Headers of 128 bytes and more have a longer varint here and are left to SQLite.
  const std::size_t header_size = record.empty() ? 0 : record[0];
  if (header_size < 1 || header_size > Layout::kLongestHeader || header_size > record.size())
    return false;
  Layout& layout = layouts_[Hash(record.first(header_size)) % kLayouts];
  if (layout.header_size != header_size ||
      std::memcmp(layout.header.data(), record.data(), header_size) != 0) {
    layout.header_size = 0;
    if (!WorkOut(record, layout)) return false;
    layout.header_size = static_cast<std::uint8_t>(header_size);
    std::memcpy(layout.header.data(), record.data(), header_size);
  }
  if (layout.needs > record.size()) return false;
  row.null = layout.null;
  for (std::size_t i = 0; i < layout.constants; ++i)
    row.value[layout.constant[i].place] = layout.constant[i].value;
  for (std::size_t i = 0; i < layout.columns; ++i) {
    const Column& column = layout.column[i];
    const std::uint64_t bits = BigEndian64(record.data() + column.end - 8) << column.unused;
    row.value[column.place] = static_cast<std::int64_t>(bits) >> column.unused;
  }
  return true;
}

bool RecordDecoder::WorkOut(std::span<const std::uint8_t> record, Layout& layout) const {
  const std::size_t header_size = record[0];
  Cursor types(record.data() + 1, record.data() + header_size);
  std::uint64_t end = header_size;
  layout.columns = layout.constants = 0;
  layout.null.reset();
  for (const std::int8_t wanted : wanted_) {
    if (types.left() == 0) return false;
    const std::uint64_t type = types.Varint();
    const std::uint64_t size = ContentBytes(type);
    if (!types.ok() || size > record.size() - end) return false;
    end += size;
    if (wanted < 0) continue;
    const std::size_t place = static_cast<std::uint8_t>(wanted);
    if (size == 0 && type <= 9) {
      layout.null.set(place, type == 0);
      layout.constant[layout.constants++] = {static_cast<std::uint8_t>(place), type == 9};
    } else if (IsInteger(type) && end >= 8) {
      layout.column[layout.columns++] = {static_cast<std::uint16_t>(end),
                                         static_cast<std::uint8_t>(64 - 8 * size),
                                         static_cast<std::uint8_t>(place)};
    } else {
      return false;
    }
  }
  layout.needs = static_cast<std::uint16_t>(end);
  return true;
}

}  // namespace culprit::sys
