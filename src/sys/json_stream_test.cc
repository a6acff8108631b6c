#include "sys/json_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <string>
#include <vector>

namespace culprit::sys {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Log writes each event down as one string.
class Log final : public JsonEvents {
 public:
  void Begin(int path) override { lines.push_back("begin " + std::to_string(path)); }
  void End(int path) override { lines.push_back("end " + std::to_string(path)); }
  void Value(int path, const JsonScalar& value) override {
    lines.push_back(std::to_string(path) + "=" + std::string(value.text));
  }
  std::vector<std::string> lines;
};

base::Result<JsonEnd> Parse(std::string text, std::vector<JsonPath> paths, Log& log) {
  const Source source = Source::FromMemory("test.json", std::move(text));
  auto stream = source.Stream();
  return ParseJson(**stream, paths, log);
}

std::vector<std::string> Events(std::string text, std::vector<JsonPath> paths) {
  Log log;
  EXPECT_TRUE(Parse(std::move(text), std::move(paths), log));
  return log.lines;
}

std::optional<std::int64_t> Thousandths(std::string_view number) {
  return JsonScalar{JsonScalar::Kind::kNumber, number}.Thousandths();
}

TEST(JsonStream, TellsWhatStandsAtTheDeclaredPathsAndNothingElse) {
  EXPECT_THAT(
      Events(R"({"a":{"b":1,"c":"x"},"list":[{"n":2},{"n":-3.5e1,"m":null}],"d":true})",
             {{"a.b", 1}, {"list[]", 2}, {"list[].n", 3}, {"d", 4}}),
      ElementsAre("1=1", "begin 2", "3=2", "end 2", "begin 2", "3=-3.5e1", "end 2", "4=true"));
}

TEST(JsonStream, ReadsARootArrayAndNestedArrays) {
  EXPECT_THAT(
      Events("[[1,2],[],3]", {{"", 0}, {"[]", 1}, {"[][]", 2}}),
      ElementsAre("begin 0", "begin 1", "2=1", "2=2", "end 1", "begin 1", "end 1", "1=3", "end 0"));
}

TEST(JsonStream, DoesNotTakeAPathForAKeyThatSpellsIt) {
  EXPECT_THAT(Events(R"({"a.b":1,"a[]":2})", {{"a.b", 1}, {"a[]", 2}}), IsEmpty());
}

TEST(JsonStream, PassesStringsOnByteByByte) {
  using std::string_literals::operator""s;
  EXPECT_THAT(Events("{\"a\":\"\\u0000\\u001b[31m\\\"\xff<b>\"}", {{"a", 1}}),
              ElementsAre("1=\0\x1b[31m\"\xff<b>"s));
}

TEST(JsonStream, ReadsIntegersOfAllOfInt64AndNoOthers) {
  const auto integer = [](std::string_view text) {
    return JsonScalar{JsonScalar::Kind::kNumber, text}.Integer();
  };
  EXPECT_EQ(integer("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(integer("-9223372036854775808"), INT64_MIN);
  EXPECT_EQ(integer("9223372036854775808"), std::nullopt);
  EXPECT_EQ(integer("1.0"), std::nullopt);
  EXPECT_EQ(integer("NaN"), std::nullopt);
  EXPECT_EQ((JsonScalar{JsonScalar::Kind::kString, "1"}).Integer(), std::nullopt);
}

TEST(JsonStream, ReadsMicrosecondsAsNanosecondsWithoutADouble) {
  EXPECT_EQ(Thousandths("2241346127369.958"), 2241346127369958);
  EXPECT_EQ(Thousandths("1751410836000000.001"), 1751410836000000001);
  EXPECT_EQ(Thousandths("-0.5"), -500);
  EXPECT_EQ(Thousandths("7"), 7000);
  EXPECT_EQ(Thousandths("0.0"), 0);
  EXPECT_EQ(Thousandths("1.75e+3"), 1750000);
  EXPECT_EQ(Thousandths("5e-05"), 0);
  EXPECT_EQ(Thousandths("5e-04"), 1);
  EXPECT_EQ(Thousandths("1.2345"), 1235);
  EXPECT_EQ(Thousandths("0.99999999999999999999999999"), 1000);
  EXPECT_EQ(Thousandths("0.00099999999999999999999999"), 1);
  EXPECT_EQ(Thousandths("9223372036854775.806"), 9223372036854775806);
  EXPECT_EQ(Thousandths("9223372036854775.808"), std::nullopt);
  EXPECT_EQ(Thousandths("1e300"), std::nullopt);
  EXPECT_EQ(Thousandths("1e99999999999"), std::nullopt);
  EXPECT_EQ(Thousandths("0e300"), 0);
  EXPECT_EQ(Thousandths("NaN"), std::nullopt);
  EXPECT_EQ(Thousandths("-Infinity"), std::nullopt);
}

TEST(JsonStream, SaysWhereADocumentBreaksOff) {
  const std::string whole = R"({"a":[1,{"b":"x\u0041"}],"c":-1.5e3,"d":true})";
  for (std::size_t size = 0; size < whole.size(); ++size) {
    Log log;
    const auto end = Parse(whole.substr(0, size), {{"a[]", 1}}, log);
    ASSERT_TRUE(end) << size << ": " << end.error().Text();
    EXPECT_TRUE(end->torn) << size;
    EXPECT_EQ(end->bytes, size);
  }
  Log log;
  const auto end = Parse(whole, {{"d", 1}}, log);
  EXPECT_FALSE(end->torn);
  EXPECT_EQ(end->bytes, whole.size());
}

std::string Gzip(std::string text) {
  z_stream z{};
  deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string packed(text.size() + 1000, '\0');
  z.next_in = reinterpret_cast<Bytef*>(text.data());
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(packed.data());
  z.avail_out = static_cast<uInt>(packed.size());
  deflate(&z, Z_FINISH);
  packed.resize(z.total_out);
  deflateEnd(&z);
  return packed;
}

TEST(JsonStream, ReadsWhatATornGzipFileHolds) {
  std::string text = "[0";
  for (int i = 1; i < 10'000; ++i) text += "," + std::to_string(i);
  std::string packed = Gzip(text + "]");
  Log whole;
  EXPECT_FALSE(Parse(packed, {{"[]", 1}}, whole)->torn);
  EXPECT_EQ(whole.lines.size(), 10'000u);
  packed.resize(packed.size() / 2);
  Log torn;
  const auto end = Parse(packed, {{"[]", 1}}, torn);
  ASSERT_TRUE(end) << end.error().Text();
  EXPECT_TRUE(end->torn);
  EXPECT_EQ(end->why, "the compressed file breaks off");
  EXPECT_GT(torn.lines.size(), 1'000u);
  EXPECT_LT(torn.lines.size(), 10'000u);
}

TEST(JsonStream, FailsAtTheByteOfASyntaxError) {
  Log log;
  const auto end = Parse(R"({"a":1 "b":2})", {{"a", 1}}, log);
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, base::ErrorCode::kDamagedTrace);
  EXPECT_EQ(end.error().message,
            "is not valid JSON at byte 7: Missing a comma or '}' after an object member.");
}

TEST(JsonStream, RefusesAHundredThousandBrackets) {
  Log log;
  const auto end = Parse(std::string(100'000, '['), {{"[]", 1}}, log);
  ASSERT_FALSE(end);
  EXPECT_THAT(end.error().message, HasSubstr("more than 128 nested levels"));
}

TEST(JsonStream, RefusesAStringThatWouldFillTheMemory) {
  Log log;
  const auto end = Parse("{\"a\":\"" + std::string(20u << 20, 'x') + "\"}", {{"a", 1}}, log);
  ASSERT_FALSE(end);
  EXPECT_THAT(end.error().message, HasSubstr("a single value of more than 16 MiB"));
}

}  // namespace
}  // namespace culprit::sys
