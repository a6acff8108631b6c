#include <gtest/gtest.h>

#include "report/sample_reports.h"
#include "report/writers.h"

namespace culprit::report {
namespace {

TEST(Format, IsKnownByItsName) {
  EXPECT_EQ(FormatByName("terminal"), Format::kTerminal);
  EXPECT_EQ(FormatByName("json"), Format::kJson);
  EXPECT_EQ(FormatByName("csv"), Format::kCsv);
  EXPECT_EQ(FormatByName("markdown"), Format::kMarkdown);
  EXPECT_EQ(FormatByName("github"), Format::kGithub);
  EXPECT_EQ(FormatByName("JSON"), std::nullopt);
  EXPECT_EQ(FormatByName(""), std::nullopt);
}

TEST(Format, ChoosesTheWriter) {
  const Report report = SmallReport();
  const Style style = {60, true};
  EXPECT_EQ(Write(report, Format::kTerminal, style), WriteTerminal(report, style));
  EXPECT_EQ(Write(report, Format::kJson, style), WriteJson(report));
  EXPECT_EQ(Write(report, Format::kCsv, style), WriteCsv(report));
  EXPECT_EQ(Write(report, Format::kMarkdown, style), WriteMarkdown(report));
  EXPECT_EQ(Write(report, Format::kGithub, style), WriteGithubSummary(report));
}

TEST(Format, EndsInOneNewline) {
  for (const Format format :
       {Format::kTerminal, Format::kJson, Format::kCsv, Format::kMarkdown, Format::kGithub}) {
    const std::string text = Write(SmallReport(), format, {});
    EXPECT_EQ(text.back(), '\n');
    EXPECT_NE(text.substr(text.size() - 2), "\n\n");
  }
}

}  // namespace
}  // namespace culprit::report
