#include "sys/sqlite_scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "sys/sqlite_page.h"

namespace culprit::sys {
namespace {

using base::Fail;
using base::Result;

constexpr std::int64_t kFirstRowid = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kLastRowid = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t kPagesInARead = 64;
constexpr std::size_t kDeepest = 20;  // SQLite's own limit

}  // namespace

Result<TableScan> TableScan::Prepare(const SqliteDatabase& database, const std::string& table,
                                     std::vector<std::string> columns, std::string filter) {
  CULPRIT_CHECK(columns.size() <= IntegerRow::kMaxColumns);
  TableScan scan(database);
  scan.table_ = table;
  scan.columns_ = std::move(columns);
  scan.filter_ = std::move(filter);
  auto connection = database.Connect();
  if (!connection) return Fail(std::move(connection.error()));
  if (auto status = scan.PlanColumns(*connection); !status) return Fail(std::move(status.error()));
  // The newest pages of a database with a write-ahead log are not in the file itself.
  if (!scan.wanted_.empty() && scan.filter_.empty() && !database.recovered()) {
    auto root = connection->RootPage(table);
    if (!root) return Fail(std::move(root.error()));
    scan.FindLeaves(*root);
  }
  scan.Split(1);
  return scan;
}

// Columns are stored in the order of their declaration, except generated ones, of which some are
// not stored, and the primary key, which may be the rowid and is then stored as NULL: where such
// columns are asked for, SQLite reads the table.
base::Status TableScan::PlanColumns(const SqliteConnection& connection) {
  auto rows = connection.Prepare(fmt::format("PRAGMA table_xinfo({})", QuoteIdentifier(table_)));
  if (!rows) return Fail(std::move(rows.error()));
  std::size_t found = 0;
  bool plain = true;
  for (;;) {
    auto more = rows->Step();
    if (!more) return Fail(std::move(more.error()));
    if (!*more) break;
    const bool is_key = rows->Int(5) != 0;
    const bool is_generated = rows->Int(6) != 0;
    const auto it = std::find(columns_.begin(), columns_.end(), rows->Text(1));
    plain = plain && !is_generated;
    wanted_.push_back(-1);
    if (it == columns_.end()) continue;
    plain = plain && !is_key;
    wanted_.back() = static_cast<std::int8_t>(it - columns_.begin());
    ++found;
  }
  while (!wanted_.empty() && wanted_.back() < 0) wanted_.pop_back();
  if (!plain || found != columns_.size()) wanted_.clear();
  return {};
}

// All leaves of a b-tree are equally deep, so only the pages above them are read.
void TableScan::FindLeaves(std::uint32_t root) {
  PageFile file(*database_);
  const auto read = [&](std::uint32_t page) {
    const auto bytes = file.Read(page, 1);
    return BtreePage(bytes.empty() ? bytes : bytes.first(file.usable_size()));
  };
  std::size_t leaf_depth = 0;
  for (std::uint32_t page = root;; ++leaf_depth) {
    const BtreePage first = read(page);
    if (first.is_leaf()) break;
    const auto child = first.FirstChild();
    if (!child || leaf_depth == kDeepest) return;
    page = *child;
  }
  struct Pending {
    std::uint32_t page;
    std::int64_t last_rowid;
    std::size_t depth;
  };
  std::vector<Pending> pending = {{root, kLastRowid, 0}};
  std::uint64_t budget = file.pages();
  while (!pending.empty()) {
    const Pending next = pending.back();
    pending.pop_back();
    if (budget-- == 0) return leaves_.clear();
    if (next.depth == leaf_depth) {
      leaves_.push_back({next.page, next.last_rowid});
      continue;
    }
    const BtreePage page = read(next.page);
    if (!page.is_interior()) return leaves_.clear();
    pending.push_back({page.last_child(), next.last_rowid, next.depth + 1});
    for (std::size_t cell = page.cells(); cell-- > 0;) {
      const auto child = page.ReadChild(cell);
      if (!child) return leaves_.clear();
      pending.push_back({child->page, child->last_rowid, next.depth + 1});
    }
  }
}

void TableScan::Split(std::size_t parts) {
  parts_.clear();
  const std::size_t count =
      std::clamp(leaves_.size(), std::size_t{1}, std::max<std::size_t>(parts, 1));
  for (std::size_t i = 0; i < count; ++i) {
    Part part{leaves_.size() * i / count, leaves_.size() * (i + 1) / count, kFirstRowid,
              kLastRowid};
    if (i > 0) part.first = parts_.back().last + 1;
    if (i + 1 < count) part.last = leaves_[part.end - 1].last_rowid;
    parts_.push_back(part);
  }
}

base::Status TableScan::Read(std::size_t part, const Visit& visit) const {
  const auto rest = ReadPages(parts_[part], visit);
  if (!rest) return Fail(rest.error());
  if (!*rest) return {};
  return ReadRows(**rest, parts_[part].last, visit);
}

Result<std::optional<std::int64_t>> TableScan::ReadPages(const Part& part,
                                                         const Visit& visit) const {
  std::int64_t next = part.first;
  if (part.begin == part.end) return next;
  PageFile file(*database_);
  RecordDecoder decoder(wanted_);
  IntegerRow row;
  for (std::size_t i = part.begin; i < part.end;) {
    if (leaves_[i].page > file.pages()) {
      // SQLite fills a page that the file's end cuts with zeros, and reads rows from what is left.
      return Fail(base::ErrorCode::kDamagedTrace,
                  "the file ends before its page " + std::to_string(leaves_[i].page));
    }
    std::size_t run = 1;
    while (run < kPagesInARead && i + run < part.end &&
           leaves_[i + run].page == leaves_[i].page + run && leaves_[i + run].page <= file.pages())
      ++run;
    const auto pages = file.Read(leaves_[i].page, run);
    if (pages.empty()) return next;
    for (std::size_t k = 0; k < run; ++k, ++i) {
      const BtreePage page(pages.subspan(k * file.page_size(), file.usable_size()));
      if (!page.is_leaf()) return next;
      for (std::size_t cell = 0; cell < page.cells(); ++cell) {
        const auto found = page.ReadRow(cell);
        if (!found || found->rowid < next || found->rowid > leaves_[i].last_rowid) return next;
        if (!decoder.Decode(found->record, row)) return next;
        visit(row);
        if (found->rowid == kLastRowid) return std::optional<std::int64_t>();
        next = found->rowid + 1;
      }
    }
  }
  return std::optional<std::int64_t>();
}

base::Status TableScan::ReadRows(std::int64_t first, std::int64_t last, const Visit& visit) const {
  auto connection = database_->Connect();
  if (!connection) return Fail(std::move(connection.error()));
  std::string list;
  for (const std::string& column : columns_)
    list += (list.empty() ? "" : ", ") + QuoteIdentifier(column);
  std::string from =
      fmt::format("FROM {} WHERE rowid BETWEEN {} AND {}", QuoteIdentifier(table_), first, last);
  if (!filter_.empty()) from += " AND (" + filter_ + ")";
  IntegerRow row;
  return connection->ForEachRow(list, from, [&](SqliteRow values) {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      row.null.set(i, values.IsNull(static_cast<int>(i)));
      row.value[i] = values.Int(static_cast<int>(i));
    }
    visit(row);
  });
}

}  // namespace culprit::sys
