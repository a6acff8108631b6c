#pragma once

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

  // ReadRow decodes cell number `cell` of a leaf. wanted as in TableScan.
  [[nodiscard]] bool ReadRow(std::size_t cell, std::span<const std::int8_t> wanted,
                             std::int64_t& rowid, IntegerRow& row) const;

 private:
  [[nodiscard]] std::size_t CellAt(std::size_t cell) const;

  std::span<const std::uint8_t> bytes_;
  std::uint8_t kind_ = 0;
  std::size_t cells_ = 0;
};

}  // namespace culprit::sys
