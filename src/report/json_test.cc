#include "base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "report/sample_reports.h"
#include "report/writers.h"

namespace culprit::report {
namespace {

using base::Json;

std::string ReadFile(const std::string& path) {
  std::ifstream file(CULPRIT_SOURCE_DIR "/" + path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

Json Parsed(const Report& report) {
  auto json = base::ParseJson(WriteJson(report));
  EXPECT_TRUE(json.has_value());
  return json.value_or(Json());
}

// tests/check_schema.py holds the same file against schema/report.schema.json.
TEST(Json, WritesTheWholeReport) {
  EXPECT_EQ(WriteJson(SmallReport()), ReadFile("tests/fixtures/report/small.json"));
}

TEST(Json, NamesTheVersionOfItsSchema) {
  const auto schema = base::ParseJson(ReadFile("schema/report.schema.json"));
  ASSERT_TRUE(schema.has_value());
  const Json report = Parsed(SmallReport());
  EXPECT_EQ(report["schema"], (*schema)["properties"]["schema"]["const"]);
  EXPECT_EQ(report["schema_version"], (*schema)["properties"]["schema_version"]["const"]);
}

TEST(Json, HasEveryMemberThatTheSchemaRequires) {
  const auto schema = base::ParseJson(ReadFile("schema/report.schema.json"));
  ASSERT_TRUE(schema.has_value());
  const Json empty = Parsed(Report());
  for (const Json& member : (*schema)["required"]) {
    EXPECT_TRUE(empty.contains(member.get<std::string>())) << member;
  }
}

TEST(Json, MarksNothingOfACompleteReport) {
  Report report = SmallReport();
  report.incomplete = false;
  const Json json = Parsed(report);
  EXPECT_EQ(json["incomplete"], false);
  EXPECT_FALSE(json.contains("incomplete_mark"));
  EXPECT_EQ(json["tables"][0]["incomplete"], false);
}

TEST(Json, KeepsHostileTextAsItIs) {
  const std::string name(64 << 10, '"');
  for (const std::string& text : {std::string("<script>|`@x`\\\"\n=cmd()"), name}) {
    const Json json = Parsed(OneText(text));
    EXPECT_EQ(json["tables"][0]["rows"][0]["kernel"], text);
    EXPECT_EQ(json["tables"][0]["rows"][0]["details"][0]["kernel"], text);
  }
}

TEST(Json, IsValidUtf8EvenIfATextIsNot) { EXPECT_EQ(Parsed(OneText("a\xff"))["title"], "a\uFFFD"); }

TEST(Json, WritesWhatIsNoNumberAsNull) {
  Report report = OneText("x");
  report.tables[0].rows[0].cells[1].value = std::nan("");
  EXPECT_TRUE(Parsed(report)["tables"][0]["rows"][0]["ms"].is_null());
}

TEST(Json, WritesEveryOneOfManyRows) {
  const Json json = Parsed(LongReport(50'000));
  EXPECT_EQ(json["tables"][0]["rows"][0]["details"].size(), 50'000u);
}

}  // namespace
}  // namespace culprit::report
