#include "sys/sqlite.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace culprit::sys {
namespace {

using base::ErrorCode;
using base::Fail;
using base::Result;

constexpr std::size_t kHeaderBytes = 100;
constexpr int kStepsBetweenLooks = 1'000'000;

std::uint32_t BigEndian32(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = at; i < at + 4; ++i)
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

base::Error ToError(sqlite3* handle, int code, const std::string& name) {
  const char* text = handle != nullptr ? sqlite3_errmsg(handle) : sqlite3_errstr(code);
  const std::string message = std::string("SQLite cannot read it: ") + text;
  switch (code & 0xff) {
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_NOMEM:
    case SQLITE_FULL:
    case SQLITE_BUSY:
      return {ErrorCode::kUnreadable, message, name};
    default:
      return {ErrorCode::kDamagedTrace, message, name, "trace again, or copy the file again"};
  }
}

// The header of a database in write-ahead mode (2 at offsets 18 and 19) makes SQLite look for a
// log, which a block of memory cannot have: such bytes get a copy that says 1, rollback mode.
Bytes InRollbackMode(Bytes bytes) {
  const std::string_view view = bytes.view();
  if (view.size() < kHeaderBytes || (view[18] != 2 && view[19] != 2)) return bytes;
  auto copy = std::make_shared<std::string>(view);
  (*copy)[18] = (*copy)[19] = 1;
  const std::string_view changed = *copy;
  return {std::move(copy), changed};
}

// A path as an URI, so that it can carry "immutable": then SQLite looks for no journal and takes no
// lock. "./" and "//" keep a path from being taken for something else.
std::string ImmutableUri(const std::string& path) {
  std::string uri = path.starts_with('/') ? "file://" : "file:./";
  for (const char c : path) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' || c == '.' ||
                       c == '-' || c == '_';
    if (plain) {
      uri += c;
    } else {
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return uri + "?immutable=1";
}

void MakeHarmless(sqlite3* handle, bool truncated) {
  const auto set = [&](int option, int value) {
    sqlite3_db_config(handle, option, value, static_cast<int*>(nullptr));
  };
  // Only with a writable schema (nothing here writes) does SQLite open a file that is shorter than
  // its header says; defensive mode forbids that.
  set(SQLITE_DBCONFIG_DEFENSIVE, truncated ? 0 : 1);
  set(SQLITE_DBCONFIG_WRITABLE_SCHEMA, truncated ? 1 : 0);
  set(SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0);
  set(SQLITE_DBCONFIG_ENABLE_TRIGGER, 0);
  set(SQLITE_DBCONFIG_ENABLE_VIEW, 0);
  set(SQLITE_DBCONFIG_DQS_DML, 0);
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, 64 << 20);
  sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, 1 << 20);
  sqlite3_limit(handle, SQLITE_LIMIT_EXPR_DEPTH, 100);
  sqlite3_limit(handle, SQLITE_LIMIT_VDBE_OP, 100'000);
  sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0);
  // Pages are read once, in order: a small cache is as fast as a big one. No mmap: mapped pages
  // would count as memory of ours.
  sqlite3_exec(handle, "PRAGMA cache_size=-512; PRAGMA mmap_size=0; PRAGMA cell_size_check=ON",
               nullptr, nullptr, nullptr);
}

}  // namespace

bool LooksLikeSqlite(std::string_view head) {
  return head.starts_with(std::string_view("SQLite format 3\0", 16));
}

std::string QuoteIdentifier(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) {
    quoted += c;
    if (c == '"') quoted += c;
  }
  return quoted + '"';
}

Result<bool> SqliteStatement::Step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return Fail(ToError(sqlite3_db_handle(statement_.get()), code, name_));
}

void SqliteStatement::Bind(int parameter, std::string_view value) {
  sqlite3_bind_text(statement_.get(), parameter, value.data(), static_cast<int>(value.size()),
                    SQLITE_TRANSIENT);
}

bool SqliteStatement::IsNull(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

std::int64_t SqliteStatement::Int(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::optional<std::int64_t> SqliteStatement::OptionalInt(int column) const {
  if (IsNull(column)) return std::nullopt;
  return Int(column);
}

std::string_view SqliteStatement::Text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (text == nullptr) return {};
  return {text, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

Result<SqliteStatement> SqliteConnection::Prepare(std::string_view sql) const {
  allowance_->left = allowance_->at_start;
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(handle_.get(), sql.data(), static_cast<int>(sql.size()),
                                      &statement, nullptr);
  if (code != SQLITE_OK) return Fail(ToError(handle_.get(), code, name_));
  return SqliteStatement(statement, name_);
}

base::Status SqliteConnection::Fold(std::string_view columns, std::string_view from, Step step,
                                    void* visit) const {
  const auto finish = [](sqlite3_context*) {};
  const int code = sqlite3_create_function_v2(handle_.get(), "culprit_visit", -1,
                                              SQLITE_UTF8 | SQLITE_DIRECTONLY, visit, nullptr, step,
                                              finish, nullptr);
  if (code != SQLITE_OK) return Fail(ToError(handle_.get(), code, name_));
  auto scan = Prepare(fmt::format("SELECT culprit_visit({}) {}", columns, from));
  if (!scan) return Fail(std::move(scan.error()));
  auto row = scan->Step();
  if (!row) return Fail(std::move(row.error()));
  return {};
}

Result<std::vector<std::string>> SqliteConnection::Tables() const {
  // A virtual table has no root page.
  auto rows = Prepare("SELECT name FROM sqlite_master WHERE type='table' AND rootpage>0");
  if (!rows) return Fail(std::move(rows.error()));
  std::vector<std::string> names;
  for (;;) {
    auto more = rows->Step();
    if (!more) return Fail(std::move(more.error()));
    if (!*more) return names;
    names.emplace_back(rows->Text(0));
  }
}

Result<std::vector<std::string>> SqliteConnection::Columns(std::string_view table) const {
  auto rows = Prepare(fmt::format("PRAGMA table_info({})", QuoteIdentifier(table)));
  if (!rows) return Fail(std::move(rows.error()));
  std::vector<std::string> names;
  for (;;) {
    auto more = rows->Step();
    if (!more) return Fail(std::move(more.error()));
    if (!*more) return names;
    names.emplace_back(rows->Text(1));
  }
}

Result<std::uint32_t> SqliteConnection::RootPage(std::string_view table) const {
  auto rows = Prepare("SELECT rootpage FROM sqlite_master WHERE type='table' AND name=?1");
  if (!rows) return Fail(std::move(rows.error()));
  rows->Bind(1, table);
  auto row = rows->Step();
  if (!row) return Fail(std::move(row.error()));
  const std::int64_t page = *row ? rows->Int(0) : 0;
  return page > 0 && page <= 0xffff'fffe ? static_cast<std::uint32_t>(page) : 0;
}

std::optional<std::string> SqliteConnection::QuickCheck(std::string_view table) const {
  auto rows =
      Prepare(table.empty() ? "PRAGMA quick_check(1)"
                            : fmt::format("PRAGMA quick_check({})", QuoteIdentifier(table)));
  if (!rows) return rows.error().message;
  auto row = rows->Step();
  if (!row) return row.error().message;
  if (!*row || rows->Text(0) == "ok") return std::nullopt;
  return std::string(rows->Text(0));
}

base::Status SqliteDatabase::ReadHeader(std::string_view header) {
  if (!LooksLikeSqlite(header)) {
    return Fail(ErrorCode::kNotATrace, "is no SQLite database", name_);
  }
  if (header.size() < kHeaderBytes) {
    return Fail(ErrorCode::kDamagedTrace, "breaks off inside its header", name_);
  }
  // Offsets 16: page size (1 means 65536); 20: bytes reserved at a page's end; 28: pages; 24 and
  // 92: equal when 28 is up to date.
  const std::uint32_t raw_size = BigEndian32(header, 14) & 0xffff;
  page_size_ = raw_size == 1 ? 65536 : raw_size;
  reserved_bytes_ = static_cast<unsigned char>(header[20]);
  if (page_size_ < 512 || (page_size_ & (page_size_ - 1)) != 0 || reserved_bytes_ > 32) {
    return Fail(ErrorCode::kDamagedTrace, "its header gives an impossible page size", name_);
  }
  if (BigEndian32(header, 24) == BigEndian32(header, 92)) {
    header_bytes_ = std::uint64_t{page_size_} * BigEndian32(header, 28);
  }
  return {};
}

Result<SqliteDatabase> SqliteDatabase::Open(const Source& source) {
  SqliteDatabase database;
  database.name_ = source.path();
  std::string header(source.head().substr(0, kHeaderBytes));
  if (source.on_disk()) {
    database.path_ = source.path();
    if (LooksLikeSqlite(header) && RecoveredCopy::NeedsOne(source.path())) {
      auto copy = RecoveredCopy::Make(source.path());
      if (!copy) return Fail(std::move(copy.error()));
      database.copy_ = *std::move(copy);
      database.path_ = database.copy_->database();
      // The first connection rolls back; only then is the size what it was at the last commit.
      auto first = database.Connect();
      if (!first) return Fail(std::move(first.error()));
      if (auto tables = first->Tables(); !tables) return Fail(std::move(tables.error()));
      std::ifstream(database.path_, std::ios::binary).read(header.data(), kHeaderBytes);
    }
    std::error_code error;
    database.bytes_on_disk_ = std::filesystem::file_size(database.path_, error);
    if (error) return Fail(ErrorCode::kUnreadable, error.message(), source.path());
  } else {
    auto bytes = source.ReadAll();
    if (!bytes) return Fail(std::move(bytes.error()));
    database.bytes_ = InRollbackMode(*std::move(bytes));
    database.bytes_on_disk_ = database.bytes_.view().size();
  }
  if (auto status = database.ReadHeader(header); !status) return Fail(std::move(status.error()));
  return database;
}

Result<SqliteConnection> SqliteDatabase::Connect() const {
  SqliteConnection connection;
  connection.name_ = name_;
  connection.bytes_ = bytes_;
  connection.copy_ = copy_;
  std::string where = ":memory:";
  int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
  if (copy_ != nullptr) {
    where = path_;
    flags = SQLITE_OPEN_READWRITE;
  } else if (!path_.empty()) {
    where = ImmutableUri(path_);
  }
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(where.c_str(), &handle,
                                   flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE, nullptr);
  connection.handle_.reset(handle);
  if (code != SQLITE_OK) return Fail(ToError(handle, code, name_));
  if (path_.empty()) {
    // Read only, so the cast takes nothing away and all connections share the bytes.
    auto* bytes = reinterpret_cast<unsigned char*>(const_cast<char*>(bytes_.view().data()));
    const auto size = static_cast<sqlite3_int64>(bytes_.view().size());
    const int loaded =
        sqlite3_deserialize(handle, "main", bytes, size, size, SQLITE_DESERIALIZE_READONLY);
    if (loaded != SQLITE_OK) return Fail(ToError(handle, loaded, name_));
  }
  MakeHarmless(handle, truncated());
  // A row of a byte or more takes a few steps a column; this is far above what any file needs.
  connection.allowance_->at_start = 100'000'000 + 8 * static_cast<std::int64_t>(bytes_on_disk_);
  sqlite3_progress_handler(
      handle, kStepsBetweenLooks,
      [](void* allowance) {
        return (static_cast<SqliteConnection::Allowance*>(allowance)->left -= kStepsBetweenLooks) <
                       0
                   ? 1
                   : 0;
      },
      connection.allowance_.get());
  return connection;
}

}  // namespace culprit::sys
