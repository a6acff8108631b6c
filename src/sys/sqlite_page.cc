#include "sys/sqlite_page.h"

#include <fcntl.h>
#include <unistd.h>

namespace culprit::sys {
namespace {

constexpr std::size_t kLeafHeader = 8;
constexpr std::size_t kInteriorHeader = 12;

std::uint32_t BigEndian(const std::uint8_t* at, std::size_t bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value = value << 8 | at[i];
  return value;
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

bool IsInteger(std::uint64_t serial_type) {
  return serial_type <= 9 && serial_type != 7 && serial_type != 0;
}

std::int64_t ReadInteger(std::uint64_t serial_type, const std::uint8_t* at) {
  switch (serial_type) {
    case 1:
      return static_cast<std::int8_t>(at[0]);
    case 2:
      return static_cast<std::int16_t>(BigEndian(at, 2));
    case 3:
      return static_cast<std::int32_t>(BigEndian(at, 3) << 8) >> 8;
    case 4:
      return static_cast<std::int32_t>(BigEndian(at, 4));
    case 5:
      return std::int64_t{static_cast<std::int16_t>(BigEndian(at, 2))} * (std::int64_t{1} << 32) +
             BigEndian(at + 2, 4);
    case 6:
      return static_cast<std::int64_t>(std::uint64_t{BigEndian(at, 4)} << 32 |
                                       BigEndian(at + 4, 4));
    default:
      return serial_type == 9 ? 1 : 0;
  }
}

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

bool BtreePage::ReadRow(std::size_t cell, std::span<const std::int8_t> wanted, std::int64_t& rowid,
                        IntegerRow& row) const {
  const std::size_t at = CellAt(cell);
  if (at >= bytes_.size()) return false;
  const std::uint8_t* const end = bytes_.data() + bytes_.size();
  Cursor cell_cursor(bytes_.data() + at, end);
  const std::uint64_t payload = cell_cursor.Varint();
  rowid = static_cast<std::int64_t>(cell_cursor.Varint());
  // A longer payload goes on in overflow pages.
  if (!cell_cursor.ok() || payload > bytes_.size() - 35 || payload > cell_cursor.left())
    return false;

  const std::uint8_t* const record = cell_cursor.at();
  const std::uint8_t* const record_end = record + payload;
  Cursor sized(record, record_end);
  const std::uint64_t header_size = sized.Varint();
  if (!sized.ok() || header_size > payload) return false;
  Cursor types(sized.at(), record + header_size);
  std::uint64_t content = header_size;
  row.null.reset();
  for (const std::int8_t place : wanted) {
    if (types.left() == 0) return false;
    const std::uint64_t type = types.Varint();
    const std::uint64_t size = ContentBytes(type);
    if (!types.ok() || size > payload - content) return false;
    if (place >= 0) {
      const auto out = static_cast<std::size_t>(place);
      if (type == 0) {
        row.null.set(out);
        row.value[out] = 0;
      } else if (IsInteger(type)) {
        row.value[out] = ReadInteger(type, record + content);
      } else {
        return false;
      }
    }
    content += size;
  }
  return true;
}

}  // namespace culprit::sys
