#include <gmock/gmock.h>

#include <regex>
#include <set>

#include "report/sample_reports.h"
#include "report/writers.h"

namespace culprit::report {
namespace {

using testing::HasSubstr;
using testing::Not;

// What stands between the body's tags.
std::string BodyOf(const std::string& page) {
  const auto begin = page.find("<body>"), end = page.find("</body>");
  return page.substr(begin, end - begin);
}

TEST(Html, SaysTheAnswerFirstAndWhatSpeaksAgainstItNext) {
  const std::string body = BodyOf(WriteHtml(SmallReport()));
  const char* const order[] = {
      "<p class=\"incomplete\">INCOMPLETE TRACE",
      "<p class=\"answer\">q4 takes 0.923 ms more per token than f16 (+7.2 %).</p>",
      "<p class=\"more\">KV dequantise is the largest part",
      "<li class=\"error\"><b>Error:</b> q4: the file breaks off",
      "<li class=\"warning\"><b>Warning:</b> 16.945 ms",
      "<li class=\"holds\"><b>f16</b>",
      "<li class=\"broken\"><b>q4</b>",
      "<section id=\"traced\">",
      "<section id=\"notes\">",
      "<section id=\"next\">"};
  std::size_t at = 0;
  for (const char* part : order) {
    const auto found = body.find(part, at);
    ASSERT_NE(found, std::string::npos) << part;
    at = found;
  }
}

TEST(Html, FoldsDetailsUnderTheirRow) {
  const std::string body = BodyOf(WriteHtml(SmallReport()));
  EXPECT_THAT(body,
              HasSubstr("<tr class=\"strong\"><th scope=\"row\" class=\"text\"><label "
                        "class=\"fold\"><input type=\"checkbox\">KV dequantise</label></th>"));
  EXPECT_THAT(body, HasSubstr("<tr class=\"detail\"><th scope=\"row\" class=\"text\">"
                              "dequantize_block_q4_0&lt;__half, (ggml_type)2&gt;"));
  EXPECT_THAT(body, HasSubstr("<tr class=\"total\">"));
}

// Whatever a name holds.
TEST(Html, RunsNothingAndLoadsNothing) {
  Report report = SmallReport();
  const std::string hostile = "\"><script>alert(1)</script><img src=x onerror='a()'>&amp;";
  report.title = report.headline[0] = hostile;
  report.notes[0].text = report.proof[0].subject = report.proof[0].text = hostile;
  report.advice[0] = report.tables[0].title = report.tables[0].notes[0] = hostile;
  report.tables[0].id = report.tables[0].columns[0].heading = hostile;
  report.tables[0].rows[0].cells[0] = Text(hostile);
  const std::string page = WriteHtml(report);
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  for (const char* markup :
       {"<script", "<img", "onerror='", "http:", "https:", "url(", "@import"}) {
    EXPECT_THAT(page, Not(HasSubstr(markup))) << markup;
  }
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;alert(1)&lt;/script&gt;"));
  // Every tag that opens is one of ours.
  const std::regex tag("<([a-z0-9]+)");
  const std::string body = BodyOf(page);
  for (std::sregex_iterator it(body.begin(), body.end(), tag), end; it != end; ++it) {
    EXPECT_THAT((std::set<std::string>{"body", "main",  "header",  "h1",    "h2",    "p",
                                       "ul",   "li",    "b",       "nav",   "a",     "section",
                                       "div",  "table", "caption", "thead", "tbody", "tr",
                                       "th",   "td",    "label",   "input", "footer"}),
                testing::Contains((*it)[1].str()));
  }
}

TEST(Html, ShowsTheBeginOfANameOf64KiB) {
  Report report = SmallReport();
  report.tables[0].rows[1].cells[0] = Text(std::string(65'536, 'x'));
  EXPECT_LT(WriteHtml(report).size(), 20'000u);
}

}  // namespace
}  // namespace culprit::report
