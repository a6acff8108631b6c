#include "sys/csv_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace culprit::sys {
namespace {

using ::testing::ElementsAre;
using State = CsvRows::State;

// Rows is what a text splits into: one line a row, fields joined by |, its line number in front.
std::vector<std::string> Rows(const std::string& text) {
  const Source source = Source::FromMemory("test.csv", text);
  const auto stream = source.Stream();
  CsvRows rows(**stream);
  std::vector<std::string> all;
  for (;;) {
    const auto state = rows.Next();
    if (!state) return all.push_back(state.error().message), all;
    if (*state == State::kEnd) return all;
    std::string row = std::to_string(rows.line()) + ":";
    if (*state == State::kTorn) row += "torn";
    if (*state == State::kTooLong) row += "too long";
    if (*state == State::kRow) {
      for (const CsvField& field : rows.fields()) row += "|" + std::string(field.text);
    }
    all.push_back(row);
  }
}

TEST(CsvRows, SplitsQuotedAndBareFields) {
  EXPECT_THAT(Rows("a,\"b, c\",\nd,,\"\"\n"), ElementsAre("1:|a|b, c|", "2:|d||"));
}

TEST(CsvRows, QuotedFieldsHoldCommasNewlinesAndQuotes) {
  EXPECT_THAT(Rows("\"a\n,\"\"b\"\"\",c\nd,e\n"), ElementsAre("1:|a\n,\"\"b\"\"|c", "3:|d|e"));
}

TEST(CsvRows, AQuoteInsideAValueBelongsToIt) {
  EXPECT_THAT(Rows("\"f<\"x\">\",1\n"), ElementsAre("1:|f<\"x\">|1"));
}

TEST(CsvRows, ReadsWindowsLineEndsAndByteOrderMark) {
  EXPECT_THAT(Rows("\xEF\xBB\xBF\"a\",b\r\nc,\"d\"\r\n"), ElementsAre("1:|a|b", "2:|c|d"));
}

TEST(CsvRows, SkipsEmptyLinesAndCountsThem) {
  EXPECT_THAT(Rows("\n\r\na,b\n\n\nc,d\n\n"), ElementsAre("3:|a|b", "6:|c|d"));
}

TEST(CsvRows, ARowWithoutLineEndIsTorn) {
  EXPECT_THAT(Rows("a,b\nc,d"), ElementsAre("1:|a|b", "2:torn"));
  EXPECT_THAT(Rows("a,b\n\"c"), ElementsAre("1:|a|b", "2:torn"));
}

TEST(CsvRows, SkipsAQuoteThatIsNotClosedWithinAMebibyte) {
  std::string text = "a,b\n\"c,d\n";
  for (int i = 0; i < 600'000; ++i) text += "e,f\n";
  const auto rows = Rows(text);
  EXPECT_EQ(rows[0], "1:|a|b");
  EXPECT_EQ(rows[1], "2:too long");
  EXPECT_EQ(rows.back(), "600002:|e|f");
  EXPECT_GT(rows.size(), 300'000u);
}

TEST(CsvRows, LinesOfOpenQuotesTakeLinearTime) {
  std::string text;
  for (int i = 0; i < 4'000'000; ++i) text += "\"x\n";
  EXPECT_LT(Rows(text).size(), 20u);
}

TEST(CsvRows, RowsMayStraddleTheBuffer) {
  const std::string name(64 * 1024, 'n');
  std::string text;
  for (int i = 0; i < 20; ++i) text += "\"" + name + "\"," + std::to_string(i) + "\n";
  const auto rows = Rows(text);
  ASSERT_EQ(rows.size(), 20u);
  EXPECT_EQ(rows[19], "20:|" + name + "|19");
}

TEST(FindColumn, IgnoresCaseAndTakesTheFirst) {
  std::vector<CsvField> header;
  ASSERT_GT(ParseCsvRow("\"Kind\",LDS_Block_Size,\"Lds_Block_Size\"\n", header), 0U);
  EXPECT_EQ(FindColumn(header, "lds_block_size"), 1U);
  EXPECT_EQ(FindColumn(header, "KIND"), 0U);
  EXPECT_EQ(FindColumn(header, "Kin"), std::nullopt);
}

}  // namespace
}  // namespace culprit::sys
