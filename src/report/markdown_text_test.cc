#include "report/markdown_text.h"

#include <gtest/gtest.h>

namespace culprit::report {
namespace {

TEST(MarkdownText, EscapesStructure) {
  EXPECT_EQ(MarkdownText("<b>&amp;"), "&lt;b&gt;&amp;amp;");
  EXPECT_EQ(MarkdownText("a|b \\| `c`"), "a&#124;b &#92;&#124; &#96;c&#96;");
  EXPECT_EQ(MarkdownText("](javascript:x) [y]"), "\\](javascript:x) \\[y\\]");
  EXPECT_EQ(MarkdownText("*a* ~~b~~ $c$"), "\\*a\\* \\~\\~b\\~\\~ <span>$</span>c<span>$</span>");
  EXPECT_EQ(MarkdownText("a\nb"), "a b");
}

TEST(MarkdownText, LeavesUnderscoresInsideWords) {
  EXPECT_EQ(MarkdownText("mul_mat_vec_q"), "mul_mat_vec_q");
  EXPECT_EQ(MarkdownText("__half _x_"), "\\_\\_half \\_x\\_");
}

TEST(MarkdownText, PartsMentionsReferencesAndAddresses) {
  EXPECT_EQ(MarkdownText("@everyone a@b"), "@&#8203;everyone a@&#8203;b");
  EXPECT_EQ(MarkdownText("#12 C#"), "#&#8203;12 C#&#8203;");
  EXPECT_EQ(MarkdownText("http://x www.x flow.cc"), "http:&#8203;//x www&#46;x flow.cc");
}

TEST(MarkdownText, BeginsNoListRuleOrCommand) {
  EXPECT_EQ(MarkdownText("- a"), "\\- a");
  EXPECT_EQ(MarkdownText("12. a"), "12\\. a");
  EXPECT_EQ(MarkdownText("==="), "\\===");
  EXPECT_EQ(MarkdownText("    a"), "a");
  EXPECT_EQ(MarkdownText("::error::a ns::f"), "\\::error::a ns::f");
  EXPECT_EQ(MarkdownText("-0.017"), "-0.017");
  EXPECT_EQ(MarkdownText("12.753 ms"), "12.753 ms");
}

TEST(MarkdownCode, NeedsNoEscapesMostly) {
  EXPECT_EQ(MarkdownCode("f<(ggml_type)2, 1>(void const*)"), "`f<(ggml_type)2, 1>(void const*)`");
  EXPECT_EQ(MarkdownCode(""), "");
}

TEST(MarkdownCode, EscapesWhatEndsASpanOrACell) {
  EXPECT_EQ(MarkdownCode("a`b"), "<code>a&#96;b</code>");
  EXPECT_EQ(MarkdownCode("a|b"), "<code>a&#124;b</code>");
  EXPECT_EQ(MarkdownCode("##[error]"), "<code>#&#8203;#&#8203;\\[error\\]</code>");
}

TEST(MarkdownBold, LeavesNothingAsNothing) {
  EXPECT_EQ(MarkdownBold("a"), "**a**");
  EXPECT_EQ(MarkdownBold(""), "");
}

}  // namespace
}  // namespace culprit::report
