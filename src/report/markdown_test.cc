#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/sample_reports.h"
#include "report/writers.h"

namespace culprit::report {
namespace {

constexpr const char* kSmall = R"(## Decode of q4 against f16: 96 tokens after a prompt of 20,000

**INCOMPLETE TRACE: a look, not a claim. Numbers may be missing work.**

**q4 takes 0.923 ms more per token than f16 (+7.2 %).**

KV dequantise is the largest part of it: +0.339 ms, 36.7 %.

❌ **Error:** q4: the file breaks off in the middle of a record.

⚠️ **Warning:** 16.945 ms per token was given without its output length, so nothing shows that it belongs to this trace.

### Completeness

- ✓ **f16** Σ exclusive + idle = window, 1,224,288,000 ns
- ✗ **q4** the window holds 95 steps where 96 tokens imply 96; the last one breaks off in the middle

### Traced, ms per token

**INCOMPLETE TRACE: a look, not a claim. Numbers may be missing work.**

| Category | f16 | q4 | Δ | share of Δ | launches a step f16 | launches a step q4 | stands out |
|:--|--:|--:|--:|--:|--:|--:|:--|
| **KV dequantise** | **0.000** | **0.339** | **+0.339** | **36.7 %** | **0** | **20** | **yes** |
| ↳ `dequantize_block_q4_0<__half, (ggml_type)2>(void const*, __half*, long)` |  | 0.339 | +0.339 |  |  | 20 | only q4 |
| flash attention | 1.400 | 1.383 | -0.017 | -1.8 % | 10 | 10 |  |
| \[idle\] | 0.210 | 0.211 | +0.001 | 0.1 % |  |  |  |
| **total** | **12.753** | **13.676** | **+0.923** | **100.0 %** | **145** | **165** |  |

A share is signed; all of them sum to 100 %.

### Scaled to untraced time, for presentation only

**INCOMPLETE TRACE: a look, not a claim. Numbers may be missing work.**

| Category | Δ ms per token |
|:--|--:|
| KV dequantise | +0.420 |

### Notes

- **Notice:** Two devices ran kernels; each is accounted for.
- 12 records were not in order and were sorted.

### Next

- Look at dequantize_block_q4_0: it runs on q4 only.
- Trace q4 again and let the profiler finish writing.
)";

TEST(Markdown, WritesTheWholeReport) { EXPECT_EQ(WriteMarkdown(SmallReport()), kSmall); }

TEST(Markdown, MarksNothingOfACompleteReport) {
  Report report = SmallReport();
  report.incomplete = false;
  EXPECT_THAT(WriteMarkdown(report), testing::Not(testing::HasSubstr("INCOMPLETE")));
}

TEST(Markdown, KeepsAHostileNameInItsCell) {
  const std::string text = WriteMarkdown(OneText("<script>|`@everyone`](javascript:x)"));
  const std::string escaped = "&lt;script&gt;&#124;&#96;@&#8203;everyone&#96;\\](javascript:x)";
  EXPECT_THAT(text, testing::HasSubstr("\n| " + escaped + " | 1 |\n"));
  EXPECT_THAT(text, testing::HasSubstr("\n| ↳ <code>" + escaped + "</code> | 2 |\n"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("<script")));
}

TEST(Markdown, ShortensNamesInTables) {
  const std::string name(64 << 10, 'k');
  Report report = SmallReport();
  report.tables[0].rows[1].cells[0] = Text(name);
  const std::string text = WriteMarkdown(report);
  EXPECT_LT(text.size(), 4'096u);
  EXPECT_THAT(text, testing::HasSubstr("k…k"));
}

TEST(Markdown, WritesManyRowsInLinearSpace) {
  const std::size_t once = WriteMarkdown(LongReport(25'000)).size();
  const std::size_t twice = WriteMarkdown(LongReport(50'000)).size();
  EXPECT_LT(twice, 2.1 * static_cast<double>(once));
}

}  // namespace
}  // namespace culprit::report
