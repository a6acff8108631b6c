#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/sample_reports.h"
#include "report/writers.h"

namespace culprit::report {
namespace {

constexpr const char* kTraced = R"(### Traced, ms per token

**INCOMPLETE TRACE: a look, not a claim. Numbers may be missing work.**

| Category | f16 | q4 | Δ | share of Δ | launches a step f16 | launches a step q4 | stands out |
|:--|--:|--:|--:|--:|--:|--:|:--|
| **KV dequantise** | **0.000** | **0.339** | **+0.339** | **36.7 %** | **0** | **20** | **yes** |
| flash attention | 1.400 | 1.383 | -0.017 | -1.8 % | 10 | 10 |  |
| \[idle\] | 0.210 | 0.211 | +0.001 | 0.1 % |  |  |  |
| **total** | **12.753** | **13.676** | **+0.923** | **100.0 %** | **145** | **165** |  |

<details><summary>Details (1 rows) (INCOMPLETE TRACE: a look, not a claim. Numbers may be missing work.)</summary>

| Category | f16 | q4 | Δ | share of Δ | launches a step f16 | launches a step q4 | stands out |
|:--|--:|--:|--:|--:|--:|--:|:--|
| **KV dequantise** | **0.000** | **0.339** | **+0.339** | **36.7 %** | **0** | **20** | **yes** |
| ↳ `dequantize_block_q4_0<__half, (ggml_type)2>(void const*, __half*, long)` |  | 0.339 | +0.339 |  |  | 20 | only q4 |

</details>

A share is signed; all of them sum to 100 %.

)";

constexpr const char* kAnnotations =
    R"(::error title=culprit%3A steps::q4: the window holds 95 steps where 96 tokens imply 96; the last one breaks off in the middle
::error title=culprit%3A torn_tail::q4: the file breaks off in the middle of a record.
::warning title=culprit%3A incomplete::INCOMPLETE TRACE: a look, not a claim. Numbers may be missing work.
::warning title=culprit%3A bare_untraced::16.945 ms per token was given without its output length, so nothing shows that it belongs to this trace.
::notice title=culprit%3A Decode of q4 against f16%3A 96 tokens after a prompt of 20%2C000::q4 takes 0.923 ms more per token than f16 (+7.2 %25).
::notice title=culprit%3A mixed_devices::Two devices ran kernels; each is accounted for.
)";

std::size_t CountOf(std::string_view part, std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string_view::npos; ++at) ++count;
  return count;
}

TEST(GithubSummary, FoldsTheDetailsAway) {
  EXPECT_THAT(WriteGithubSummary(SmallReport()), testing::HasSubstr(kTraced));
}

TEST(GithubSummary, IsMarkdownWhereThereAreNoDetails) {
  Report report = SmallReport();
  auto& rows = report.tables[0].rows;
  rows.erase(rows.begin() + 1);
  EXPECT_EQ(WriteGithubSummary(report), WriteMarkdown(report));
}

TEST(GithubSummary, StaysBelowAMebibyteAndSaysWhatItLeavesOut) {
  const std::string summary = WriteGithubSummary(LongReport(50'000));
  EXPECT_LT(summary.size(), 1'024u * 1'024u);
  const std::size_t kept = CountOf("`kernel_", summary);
  EXPECT_GT(kept, 20'000u);
  const std::string left_out = std::to_string(50'000 - kept);
  EXPECT_THAT(summary, testing::HasSubstr(left_out.substr(0, 2) + "," + left_out.substr(2) +
                                          " lines are left out here"));
  EXPECT_THAT(summary, testing::HasSubstr("</details>"));
}

TEST(GithubSummary, StaysBelowAMebibyteWhateverIsLong) {
  Report report = OneText(std::string(64 << 10, '#'));
  for (int i = 0; i < 100; ++i) report.notes.push_back(report.notes.front());
  for (int i = 0; i < 100; ++i) report.advice.push_back(report.advice.front());
  EXPECT_LT(WriteGithubSummary(report).size(), 1'024u * 1'024u);
}

TEST(GithubAnnotations, ShowWhatHasALevel) {
  EXPECT_EQ(WriteGithubAnnotations(SmallReport()), kAnnotations);
}

TEST(GithubAnnotations, AreNothingWhereNothingIsToBeSaid) {
  EXPECT_EQ(WriteGithubAnnotations(LongReport(1)), "");
}

TEST(GithubAnnotations, EscapeWhatWouldEndThem) {
  Report report;
  report.notes = {{Note::Level::kError, "a:b,c", "50 %, %0A\r\n::error::owned"}};
  EXPECT_EQ(WriteGithubAnnotations(report),
            "::error title=culprit%3A a%3Ab%2Cc::50 %25, %250A%0D%0A::error::owned\n");
}

TEST(GithubAnnotations, AreAtMostTenOfAKind) {
  Report report;
  report.notes.assign(25, {Note::Level::kWarning, "warned", "text"});
  const std::string text = WriteGithubAnnotations(report);
  EXPECT_EQ(CountOf("::warning ", text), 10u);
  EXPECT_THAT(text, testing::EndsWith("::16 more of these are in the step's summary\n"));
}

TEST(GithubAnnotations, ShortenWhatIsLong) {
  EXPECT_LT(WriteGithubAnnotations(OneText(std::string(64 << 10, ','))).size(), 16'384u);
}

}  // namespace
}  // namespace culprit::report
