#include "sys/sqlite_scan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "sys/sample_files.h"

namespace culprit::sys {
namespace {

SqliteDatabase OpenBytes(std::string bytes) {
  return SqliteDatabase::Open(Source::FromMemory("m", std::move(bytes))).value();
}

struct Seen {
  std::vector<std::string> rows;
  bool failed = false;
  bool operator==(const Seen&) const = default;
};

std::string ToText(const IntegerRow& row, std::size_t columns) {
  std::string text;
  for (std::size_t i = 0; i < columns; ++i)
    text += (row.null[i] ? "null" : std::to_string(row.value[i])) + " ";
  return text;
}

Seen ReadScan(const SqliteDatabase& database, const std::vector<std::string>& columns,
              std::size_t parts, const std::string& filter = {}) {
  Seen seen;
  auto scan = TableScan::Prepare(database, "t", columns, filter);
  if (!scan) return {{}, true};
  scan->Split(parts);
  for (std::size_t part = 0; part < scan->parts(); ++part) {
    const auto status = scan->Read(
        part, [&](const IntegerRow& row) { seen.rows.push_back(ToText(row, columns.size())); });
    if (!status) seen.failed = true;
  }
  return seen;
}

// A filter that holds for every row makes SQLite read all of the table.
Seen ReadBySqlite(const SqliteDatabase& database, const std::vector<std::string>& columns) {
  return ReadScan(database, columns, 1, "1");
}

// Integers of every stored width, NULLs, text between them, gaps in the rowids.
constexpr const char* kManyRows =
    "CREATE TABLE t(id INTEGER PRIMARY KEY, guid TEXT, a, b, c INTEGER, d, e, f);"
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<3000) INSERT INTO t "
    "SELECT i*3, 'a guid', i%7, -i, i*100000, CASE i%5 WHEN 0 THEN NULL ELSE i<<(i%40) END, "
    "-9223372036854775807-(i%2), '{}' FROM n;";

TEST(TableScan, DecodesWhatSqliteDecodes) {
  const SqliteDatabase database = OpenBytes(MakeDatabase(kManyRows));
  const std::vector<std::string> columns = {"c", "a", "e", "d", "b"};
  const Seen expected = ReadBySqlite(database, columns);
  EXPECT_EQ(expected.rows.size(), 3000u);
  EXPECT_TRUE(TableScan::Prepare(database, "t", columns)->direct());
  for (const std::size_t parts : {1u, 2u, 3u, 100000u})
    EXPECT_EQ(ReadScan(database, columns, parts), expected) << parts;
}

TEST(TableScan, ReadsNothingFromAnEmptyTable) {
  const SqliteDatabase database = OpenBytes(MakeDatabase("CREATE TABLE t(a);"));
  EXPECT_EQ(ReadScan(database, {"a"}, 4), (Seen{{}, false}));
}

TEST(TableScan, LeavesRowsOfAnotherKindToSqlite) {
  for (const char* odd : {"'12'", "'text'", "1.5", "9223372036854775808", "x'00'"}) {
    const SqliteDatabase database = OpenBytes(
        MakeDatabase(std::string("CREATE TABLE t(a, b); INSERT INTO t VALUES(1, 2), (3, ") + odd +
                     "), (5, 6);"));
    EXPECT_EQ(ReadScan(database, {"a", "b"}, 1), ReadBySqlite(database, {"a", "b"})) << odd;
  }
}

TEST(TableScan, LeavesShortRowsKeysAndGeneratedColumnsToSqlite) {
  for (const char* sql :
       {"CREATE TABLE t(x); INSERT INTO t VALUES(1); ALTER TABLE t ADD COLUMN a DEFAULT 7;",
        "CREATE TABLE t(a INTEGER PRIMARY KEY); INSERT INTO t VALUES(5);",
        "CREATE TABLE t(x AS (1) STORED, y AS (2), a); INSERT INTO t VALUES(3);",
        "CREATE TABLE t(x, a); INSERT INTO t VALUES(hex(zeroblob(9000)), 3);"}) {
    const SqliteDatabase database = OpenBytes(MakeDatabase(sql));
    const Seen seen = ReadScan(database, {"a"}, 1);
    EXPECT_EQ(seen, ReadBySqlite(database, {"a"})) << sql;
    EXPECT_EQ(seen.rows.size(), 1u) << sql;
  }
}

TEST(TableScan, FailsOnATableOfAnotherShape) {
  const SqliteDatabase database =
      OpenBytes(MakeDatabase("CREATE TABLE t(a PRIMARY KEY) WITHOUT ROWID;"));
  EXPECT_TRUE(ReadScan(database, {"a"}, 1).failed);
  EXPECT_TRUE(ReadScan(database, {"none"}, 1).failed);
}

TEST(TableScan, EndsAsSqliteDoesWhereThePagesEnd) {
  const std::string whole = MakeDatabase(kManyRows);
  for (std::size_t size = 4096; size < whole.size(); size += 4096) {
    const SqliteDatabase database = OpenBytes(whole.substr(0, size));
    const Seen seen = ReadScan(database, {"a", "b"}, 1);
    EXPECT_EQ(seen, ReadBySqlite(database, {"a", "b"})) << size;
    EXPECT_TRUE(seen.failed) << size;
  }
}

TEST(TableScan, NeverReadsMoreThanSqliteFromDamagedPages) {
  const std::string whole = MakeDatabase(kManyRows);
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::string bytes = whole;
    for (int i = 0; i < 20; ++i) {
      bytes[4096 + random() % (bytes.size() - 4096)] = static_cast<char>(random());
    }
    const SqliteDatabase database = OpenBytes(std::move(bytes));
    ReadScan(database, {"a", "b", "d"}, 2);
  }
}

}  // namespace
}  // namespace culprit::sys
