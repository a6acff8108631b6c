// sqlite: SQLite databases that nobody vouches for, read and never written.
//
// Views, triggers, virtual tables and generated columns of such a file are not run: only plain
// tables are listed, and connections are opened with views and triggers off, in defensive mode.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sys/recovered_copy.h"
#include "sys/source.h"

namespace culprit::sys {

// LooksLikeSqlite tells by the 16 bytes that begin every database.
bool LooksLikeSqlite(std::string_view head);

// QuoteIdentifier makes any text usable as the name of a table or column: a"b becomes "a""b".
std::string QuoteIdentifier(std::string_view name);

// SqliteStatement is one prepared SELECT and the row it stands on.
//
// Columns count from 0. Text stays valid until the next Step. An integer over 2^63-1 was stored as
// REAL by the writer; Int clamps it to 2^63-1. Text in an integer column becomes its leading number
// or 0.
class SqliteStatement {
 public:
  // Step moves to the next row; false after the last one. Fails with kDamagedTrace.
  base::Result<bool> Step();
  // Bind sets parameter ?N, N from 1, before the first Step.
  void Bind(int parameter, std::string_view value);

  [[nodiscard]] bool IsNull(int column) const;
  [[nodiscard]] std::int64_t Int(int column) const;
  [[nodiscard]] std::optional<std::int64_t> OptionalInt(int column) const;
  [[nodiscard]] std::string_view Text(int column) const;  // "" for NULL; may hold NUL bytes

 private:
  friend class SqliteConnection;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  SqliteStatement(sqlite3_stmt* statement, std::string name)
      : statement_(statement), name_(std::move(name)) {}

  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  std::string name_;
};

// SqliteRow is a row in the hands of SqliteConnection::ForEachRow. Values as in SqliteStatement.
class SqliteRow {
 public:
  explicit SqliteRow(sqlite3_value** values) : values_(values) {}
  [[nodiscard]] bool IsNull(int column) const {
    return sqlite3_value_type(values_[column]) == SQLITE_NULL;
  }
  [[nodiscard]] std::int64_t Int(int column) const { return sqlite3_value_int64(values_[column]); }

 private:
  sqlite3_value** values_;
};

// SqliteConnection serves one thread; statements must go before their connection.
class SqliteConnection {
 public:
  base::Result<SqliteStatement> Prepare(std::string_view sql) const;

  // ForEachRow calls visit(SqliteRow) for each row of "SELECT <columns> <from>", inside SQLite: a
  // sixth faster than Step for a scan of a big table. Rows before a damaged page are visited; then
  // it fails with kDamagedTrace. At most 100 columns.
  template <typename Visit>
  base::Status ForEachRow(std::string_view columns, std::string_view from, Visit&& visit) const {
    const auto step = [](sqlite3_context* context, int, sqlite3_value** values) {
      (*static_cast<std::remove_reference_t<Visit>*>(sqlite3_user_data(context)))(
          SqliteRow(values));
    };
    return Fold(columns, from, step, &visit);
  }

  // Tables lists the plain tables in the order in which they were made.
  [[nodiscard]] base::Result<std::vector<std::string>> Tables() const;
  // Columns lists the stored columns of a table; empty when there is no such table.
  [[nodiscard]] base::Result<std::vector<std::string>> Columns(std::string_view table) const;
  // RootPage is where the pages of a table begin; 0 when there is no such table.
  [[nodiscard]] base::Result<std::uint32_t> RootPage(std::string_view table) const;
  // QuickCheck returns SQLite's first complaint about one table, or about all of the file when
  // table is empty; nullopt when it has none. It reads every page of what it checks.
  [[nodiscard]] std::optional<std::string> QuickCheck(std::string_view table = {}) const;

 private:
  friend class SqliteDatabase;
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };
  // A statement's allowance of virtual machine steps. A hostile b-tree whose pages point at each
  // other can make a scan of a small file practically endless.
  struct Allowance {
    std::int64_t at_start = 0;
    mutable std::int64_t left = 0;
  };
  using Step = void (*)(sqlite3_context*, int, sqlite3_value**);
  base::Status Fold(std::string_view columns, std::string_view from, Step step, void* visit) const;

  std::unique_ptr<Allowance> allowance_ = std::make_unique<Allowance>();
  std::unique_ptr<sqlite3, Close> handle_;
  std::string name_;
  Bytes bytes_;                                // what the connection reads, when in memory
  std::shared_ptr<const RecoveredCopy> copy_;  // what it reads, when a journal was rolled back
};

// SqliteDatabase is a database file to which connections can be opened, one for each thread.
//
// A plain file is read in place and nothing is created beside it. A hot journal or write-ahead log
// beside it is applied to a private copy. A compressed file is held in memory, once for all
// connections.
class SqliteDatabase {
 public:
  // Open fails with kNotATrace when the bytes are no database, kDamagedTrace when its header is
  // broken, kUnreadable when it cannot be read or recovered.
  static base::Result<SqliteDatabase> Open(const Source& source);
  [[nodiscard]] base::Result<SqliteConnection> Connect() const;

  // recovered tells that a journal was there and a rolled-back copy is read.
  [[nodiscard]] bool recovered() const { return copy_ != nullptr; }
  // bytes is the size of the file; header_bytes what its header says, 0 when it does not say.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_on_disk_; }
  [[nodiscard]] std::uint64_t header_bytes() const { return header_bytes_; }
  // How the bytes are laid out, and where they are: in the file at path(), else in memory().
  [[nodiscard]] std::uint32_t page_size() const { return page_size_; }
  [[nodiscard]] std::uint32_t reserved_bytes() const { return reserved_bytes_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string_view memory() const { return bytes_.view(); }
  // truncated files are opened all the same; statements fail when they meet what is missing.
  [[nodiscard]] bool truncated() const { return bytes_on_disk_ < header_bytes_; }

 private:
  base::Status ReadHeader(std::string_view header);

  std::string name_;  // the user's path, for messages
  std::string path_;  // the file to open; empty when in memory
  Bytes bytes_;
  std::shared_ptr<const RecoveredCopy> copy_;
  std::uint64_t bytes_on_disk_ = 0;
  std::uint64_t header_bytes_ = 0;
  std::uint32_t page_size_ = 0;
  std::uint32_t reserved_bytes_ = 0;
};

}  // namespace culprit::sys
