#include "sys/sqlite.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "sys/sample_files.h"

namespace culprit::sys {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

// A folder that goes with the test, and a database in it made from SQL.
class SqliteTest : public testing::Test {
 protected:
  std::string Make(const std::string& name, const std::string& sql) {
    const std::string path = folder_ / name;
    sqlite3* handle = nullptr;
    EXPECT_EQ(sqlite3_open(path.c_str(), &handle), SQLITE_OK);
    char* message = nullptr;
    EXPECT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, &message), SQLITE_OK) << message;
    sqlite3_close(handle);
    return path;
  }
  std::vector<std::string> Files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_))
      names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }
  static std::string Slurp(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static SqliteDatabase OpenPath(const std::string& path) {
    return SqliteDatabase::Open(Source::Open(path).value()).value();
  }

  const SampleFolder sample_;
  const fs::path folder_ = sample_.path();
};

std::int64_t Count(const SqliteConnection& connection, const std::string& table) {
  auto rows = connection.Prepare("SELECT count(*) FROM " + QuoteIdentifier(table));
  EXPECT_TRUE(rows && rows->Step().value_or(false));
  return rows->Int(0);
}

constexpr const char* kTypes =
    "CREATE TABLE t(i INTEGER, r, s TEXT, n); INSERT INTO t VALUES"
    "(9223372036854775807, 9223372036854775808, 'a' || char(0) || 'b', NULL);";

void ExpectTypes(const SqliteConnection& connection) {
  auto rows = connection.Prepare("SELECT i, r, s, n FROM t");
  ASSERT_TRUE(rows) << rows.error().Text();
  ASSERT_TRUE(*rows->Step());
  EXPECT_EQ(rows->Int(0), 9223372036854775807);
  EXPECT_EQ(rows->Int(1), 9223372036854775807);
  EXPECT_EQ(rows->Text(2), std::string_view("a\0b", 3));
  EXPECT_TRUE(rows->IsNull(3));
  EXPECT_EQ(rows->OptionalInt(3), std::nullopt);
  EXPECT_FALSE(*rows->Step());
}

TEST_F(SqliteTest, ReadsTypedColumnsFromAFileOrFromMemory) {
  const std::string path = Make("odd ?#%name.db", kTypes);
  ExpectTypes(OpenPath(path).Connect().value());
  const Source memory = Source::FromMemory("m", Slurp(path));
  const SqliteDatabase database = SqliteDatabase::Open(memory).value();
  ExpectTypes(database.Connect().value());
  ExpectTypes(database.Connect().value());
  EXPECT_THAT(Files(), ElementsAre("odd ?#%name.db"));
}

TEST_F(SqliteTest, ListsPlainTablesAndStoredColumnsOnly) {
  const std::string path =
      Make("a.db",
           "CREATE TABLE \"x\"\"; DROP\"(a, \"b c\", d AS (a + 1)); CREATE VIEW v AS SELECT 1;"
           "CREATE VIRTUAL TABLE f USING fts5(body);");
  const SqliteConnection connection = OpenPath(path).Connect().value();
  const auto tables = connection.Tables().value();
  EXPECT_EQ(tables.front(), "x\"; DROP");
  EXPECT_THAT(tables, testing::Not(testing::Contains("v")));
  EXPECT_THAT(tables, testing::Not(testing::Contains("f")));
  EXPECT_THAT(connection.Columns("x\"; DROP").value(), ElementsAre("a", "b c"));
  EXPECT_THAT(connection.Columns("none").value(), ElementsAre());
}

TEST_F(SqliteTest, RunsNoViewAndWritesNothing) {
  const std::string path = Make("a.db", "CREATE TABLE t(a); CREATE VIEW v AS SELECT a FROM t;");
  const SqliteConnection connection = OpenPath(path).Connect().value();
  EXPECT_FALSE(connection.Prepare("SELECT * FROM v"));
  auto write = connection.Prepare("INSERT INTO t VALUES(1)");
  EXPECT_FALSE(write && write->Step());
}

TEST_F(SqliteTest, VisitsRowsInsideSqlite) {
  const std::string path =
      Make("a.db", "CREATE TABLE t(a, b); INSERT INTO t VALUES(1, 2), (3, NULL)");
  const SqliteConnection connection = OpenPath(path).Connect().value();
  std::string seen;
  auto status = connection.ForEachRow("a, b", "FROM t ORDER BY rowid", [&](SqliteRow row) {
    seen += std::to_string(row.Int(0)) + (row.IsNull(1) ? "-" : "+");
  });
  EXPECT_TRUE(status);
  EXPECT_EQ(seen, "1+3-");
}

TEST_F(SqliteTest, RollsAHotJournalBackInACopy) {
  const std::string path = Make("live.db", "CREATE TABLE t(a); INSERT INTO t VALUES(1);");
  sqlite3* writer = nullptr;
  sqlite3_open(path.c_str(), &writer);
  // A tiny cache spills uncommitted pages into the file, as a long transaction does.
  sqlite3_exec(writer,
               "PRAGMA cache_size=1; BEGIN; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 "
               "FROM n WHERE i<2000) INSERT INTO t SELECT hex(randomblob(100)) FROM n",
               nullptr, nullptr, nullptr);
  // What a kill leaves: the file and its journal.
  fs::copy_file(path, folder_ / "killed.db");
  fs::copy_file(path + "-journal", folder_ / "killed.db-journal");
  sqlite3_close(writer);
  const std::string before = Slurp(folder_ / "killed.db");
  {
    const SqliteDatabase database = OpenPath(folder_ / "killed.db");
    EXPECT_TRUE(database.recovered());
    EXPECT_FALSE(database.truncated());
    EXPECT_EQ(Count(database.Connect().value(), "t"), 1);
  }
  EXPECT_EQ(Slurp(folder_ / "killed.db"), before);
  EXPECT_TRUE(fs::exists(folder_ / "killed.db-journal"));
}

TEST_F(SqliteTest, ReadsTheWriteAheadLogOfAKilledWriter) {
  const std::string path = Make("live.db", "PRAGMA journal_mode=WAL; CREATE TABLE t(a);");
  sqlite3* writer = nullptr;
  sqlite3_open(path.c_str(), &writer);
  sqlite3_exec(writer, "INSERT INTO t VALUES(1)", nullptr, nullptr, nullptr);
  fs::copy_file(path, folder_ / "killed.db");
  fs::copy_file(path + "-wal", folder_ / "killed.db-wal");
  sqlite3_close(writer);
  const SqliteDatabase database = OpenPath(folder_ / "killed.db");
  EXPECT_TRUE(database.recovered());
  EXPECT_EQ(Count(database.Connect().value(), "t"), 1);
}

TEST_F(SqliteTest, ReadsAFileInWriteAheadModeFromMemory) {
  const std::string path =
      Make("a.db", "PRAGMA journal_mode=WAL; CREATE TABLE t(a); INSERT INTO t VALUES(1);");
  const Source memory = Source::FromMemory("m", Slurp(path));
  EXPECT_EQ(Count(SqliteDatabase::Open(memory).value().Connect().value(), "t"), 1);
}

TEST_F(SqliteTest, RefusesAJournalThatNamesAnotherFile) {
  const std::string path = Make("a.db", "CREATE TABLE t(a);");
  std::ofstream(path + "-journal", std::ios::binary)
      << std::string(600, 'x') << "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";
  const auto database = SqliteDatabase::Open(Source::Open(path).value());
  ASSERT_FALSE(database);
  EXPECT_EQ(database.error().code, base::ErrorCode::kDamagedTrace);
}

TEST_F(SqliteTest, ReadsATruncatedFileUpToWhatIsMissing) {
  const std::string path = Make("a.db",
                                "CREATE TABLE t(a); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL "
                                "SELECT i+1 FROM n WHERE i<1000) INSERT INTO t SELECT "
                                "hex(zeroblob(100)) FROM n");
  std::string bytes = Slurp(path);
  bytes.resize(bytes.size() / 2);
  const Source source = Source::FromMemory("torn", std::move(bytes));
  const SqliteDatabase database = SqliteDatabase::Open(source).value();
  EXPECT_TRUE(database.truncated());
  const SqliteConnection connection = database.Connect().value();
  EXPECT_THAT(connection.Tables().value(), ElementsAre("t"));
  int rows = 0;
  const auto status = connection.ForEachRow("a", "FROM t", [&](SqliteRow) { ++rows; });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, base::ErrorCode::kDamagedTrace);
  EXPECT_GT(rows, 300);
  EXPECT_LT(rows, 600);
  EXPECT_TRUE(connection.QuickCheck("t"));
}

TEST_F(SqliteTest, QuickCheckIsSilentOnASoundTable) {
  const std::string path = Make("a.db", "CREATE TABLE t(a); CREATE TABLE \"o'\"\"k\"(a);");
  const SqliteConnection connection = OpenPath(path).Connect().value();
  EXPECT_EQ(connection.QuickCheck(), std::nullopt);
  EXPECT_EQ(connection.QuickCheck("o'\"k"), std::nullopt);
}

TEST(Sqlite, RefusesWhatIsNoDatabase) {
  const auto other = SqliteDatabase::Open(Source::FromMemory("m", "hello"));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, base::ErrorCode::kNotATrace);
  const auto stump =
      SqliteDatabase::Open(Source::FromMemory("m", std::string("SQLite format 3\0", 16) + "\x10"));
  ASSERT_FALSE(stump);
  EXPECT_EQ(stump.error().code, base::ErrorCode::kDamagedTrace);
}

}  // namespace
}  // namespace culprit::sys
