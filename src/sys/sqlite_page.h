#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sys/sqlite.h"
#include "sys/sqlite_scan.h"

namespace culprit::sys {

// PageFile reads runs of pages of a database, from its file or from memory.
class PageFile {
 public:
  explicit PageFile(const SqliteDatabase& database);
  PageFile(const PageFile&) = delete;
  PageFile& operator=(const PageFile&) = delete;
  ~PageFile();

  // Read returns `count` consecutive pages, the first being number 1; empty when they do not exist.
  // Valid until the next Read.
  std::span<const std::uint8_t> Read(std::uint32_t page, std::size_t count);

  // usable_size is the part of a page that SQLite uses.
  [[nodiscard]] std::size_t usable_size() const { return usable_size_; }
  [[nodiscard]] std::size_t page_size() const { return page_size_; }
  [[nodiscard]] std::uint64_t pages() const { return pages_; }

 private:
  int fd_ = -1;
  std::span<const std::uint8_t> memory_;
  std::vector<std::uint8_t> buffer_;
  std::size_t page_size_;
  std::size_t usable_size_;
  std::uint64_t pages_;
};

// RecordDecoder takes integers out of records of one table.
//
// The header of a record says the type of each of its columns, and a big table has only a few
// hundred different headers: what one means is worked out once and kept.
// Source: the SQLite file format, section 2.1 "Record Format".
class RecordDecoder {
 public:
  // wanted says for each column, up to the last one needed, its place in IntegerRow, or -1.
  explicit RecordDecoder(std::span<const std::int8_t> wanted) : wanted_(wanted) {}
  // Decode is false where a wanted column is not there or neither an integer nor NULL.
  [[nodiscard]] bool Decode(std::span<const std::uint8_t> record, IntegerRow& row);

 private:
  struct Column {
    std::uint16_t end;    // where its bytes end, counted from the record's start
    std::uint8_t unused;  // bits of the eight bytes up to `end` that are not the column's
    std::uint8_t place;   // in IntegerRow
  };
  struct Constant {  // NULL (as 0), 0 and 1 have no bytes
    std::uint8_t place, value;
  };
  struct Layout {
    static constexpr std::size_t kLongestHeader = 64;
    std::array<std::uint8_t, kLongestHeader> header;
    std::uint8_t header_size = 0;  // 0: nothing kept here yet
    std::uint8_t columns = 0;
    std::uint8_t constants = 0;
    std::uint16_t needs = 0;  // bytes that a record must have
    std::array<Column, IntegerRow::kMaxColumns> column;
    std::array<Constant, IntegerRow::kMaxColumns> constant;
    std::bitset<IntegerRow::kMaxColumns> null;
  };
  static constexpr std::size_t kLayouts = 512;

  [[nodiscard]] bool WorkOut(std::span<const std::uint8_t> record, Layout& layout) const;

  std::span<const std::int8_t> wanted_;
  std::vector<Layout> layouts_ = std::vector<Layout>(kLayouts);
};

// BtreePage looks at one page of a table's b-tree. Nothing in it is trusted: whatever points
// outside the page, or cannot be decoded, is nullopt or false.
class BtreePage {
 public:
  // bytes is the usable part of the page.
  explicit BtreePage(std::span<const std::uint8_t> bytes);
  [[nodiscard]] bool is_leaf() const { return kind_ == 13; }
  [[nodiscard]] bool is_interior() const { return kind_ == 5; }
  [[nodiscard]] std::size_t cells() const { return cells_; }

  // Of an interior page: the pages below, each with the largest rowid it may hold; the last has no
  // bound of its own.
  struct Child {
    std::uint32_t page;
    std::int64_t last_rowid;
  };
  [[nodiscard]] std::optional<Child> ReadChild(std::size_t cell) const;
  [[nodiscard]] std::uint32_t last_child() const;
  // FirstChild is the page below with the smallest rowids; nullopt in a page that is not interior.
  [[nodiscard]] std::optional<std::uint32_t> FirstChild() const;

  // Of a leaf: a row, its record whole. nullopt also when it goes on in an overflow page.
  struct Row {
    std::int64_t rowid;
    std::span<const std::uint8_t> record;
  };
  [[nodiscard]] std::optional<Row> ReadRow(std::size_t cell) const;

 private:
  [[nodiscard]] std::size_t CellAt(std::size_t cell) const;

  std::span<const std::uint8_t> bytes_;
  std::uint8_t kind_ = 0;
  std::size_t cells_ = 0;
};

}  // namespace culprit::sys
