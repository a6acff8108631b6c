#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "base/printable.h"
#include "report/sample_reports.h"
#include "report/writers.h"

namespace culprit::report {
namespace {

constexpr const char* kAt60 = R"(INCOMPLETE TRACE: a look, not a claim. Numbers may be
missing work.

q4 takes 0.923 ms more per token than f16 (+7.2 %).
KV dequantise is the largest part of it: +0.339 ms, 36.7 %.
Decode of q4 against f16: 96 tokens after a prompt of 20,000

✗ Error: q4: the file breaks off in the middle of a record.
! Warning: 16.945 ms per token was given without its output
           length, so nothing shows that it belongs to this
           trace.

Completeness
  ✓ f16  Σ exclusive + idle = window, 1,224,288,000 ns
  ✗ q4   the window holds 95 steps where 96 tokens imply 96;
         the last one breaks off in the middle

Traced, ms per token
INCOMPLETE TRACE: a look, not a claim. Numbers may be
missing work.
                                                       share
  Category                      f16      q4       Δ     of Δ
  ──────────────────────────────────────────────────────────
  KV dequantise               0.000   0.339  +0.339   36.7 %
    dequantize_block_q…ong)           0.339  +0.339
  flash attention             1.400   1.383  -0.017   -1.8 %
  [idle]                      0.210   0.211  +0.001    0.1 %
  ──────────────────────────────────────────────────────────
  total                      12.753  13.676  +0.923  100.0 %

  more columns of the same rows:
                              launches a   launches  stands
  Category                      step f16  a step q4  out
  ──────────────────────────────────────────────────────────
  KV dequantise                        0         20  yes
    dequantize_block_q…long)                     20  only q4
  flash attention                     10         10
  ──────────────────────────────────────────────────────────
  total                              145        165
  A share is signed; all of them sum to 100 %.

Scaled to untraced time, for presentation only
INCOMPLETE TRACE: a look, not a claim. Numbers may be
missing work.
                 Δ ms per
  Category          token
  ───────────────────────
  KV dequantise    +0.420

Notes
  · Notice: Two devices ran kernels; each is accounted for.
  · 12 records were not in order and were sorted.

Next
  → Look at dequantize_block_q4_0: it runs on q4 only.
  → Trace q4 again and let the profiler finish writing.
)";

constexpr const char* kAt100 =
    R"(INCOMPLETE TRACE: a look, not a claim. Numbers may be missing work.

q4 takes 0.923 ms more per token than f16 (+7.2 %).
KV dequantise is the largest part of it: +0.339 ms, 36.7 %.
Decode of q4 against f16: 96 tokens after a prompt of 20,000

✗ Error: q4: the file breaks off in the middle of a record.
! Warning: 16.945 ms per token was given without its output length, so nothing shows that it belongs
           to this trace.

Completeness
  ✓ f16  Σ exclusive + idle = window, 1,224,288,000 ns
  ✗ q4   the window holds 95 steps where 96 tokens imply 96; the last one breaks off in the middle

Traced, ms per token
INCOMPLETE TRACE: a look, not a claim. Numbers may be missing work.
                                                                        share  launches a   launches
  Category                                       f16      q4       Δ     of Δ    step f16  a step q4
  ──────────────────────────────────────────────────────────────────────────────────────────────────
  KV dequantise                                0.000   0.339  +0.339   36.7 %           0         20
    dequantize_block_q4_0<__ha…_half*, long)           0.339  +0.339                              20
  flash attention                              1.400   1.383  -0.017   -1.8 %          10         10
  [idle]                                       0.210   0.211  +0.001    0.1 %
  ──────────────────────────────────────────────────────────────────────────────────────────────────
  total                                       12.753  13.676  +0.923  100.0 %         145        165

  more columns of the same rows:
                                                                             stands
  Category                                                                   out
  ──────────────────────────────────────────────────────────────────────────────────
  KV dequantise                                                              yes
    dequantize_block_q4_0<__half, (ggml_type)2>(void const*, __half*, long)  only q4
  A share is signed; all of them sum to 100 %.

Scaled to untraced time, for presentation only
INCOMPLETE TRACE: a look, not a claim. Numbers may be missing work.
                 Δ ms per
  Category          token
  ───────────────────────
  KV dequantise    +0.420

Notes
  · Notice: Two devices ran kernels; each is accounted for.
  · 12 records were not in order and were sorted.

Next
  → Look at dequantize_block_q4_0: it runs on q4 only.
  → Trace q4 again and let the profiler finish writing.
)";

// ␛ stands for the escape character.
constexpr const char* kColoredAt60 =
    R"(␛[1;31mINCOMPLETE TRACE: a look, not a claim. Numbers may be␛[0m
␛[1;31mmissing work.␛[0m

␛[1mq4 takes 0.923 ms more per token than f16 (+7.2 %).␛[0m
KV dequantise is the largest part of it: +0.339 ms, 36.7 %.
␛[2mDecode of q4 against f16: 96 tokens after a prompt of 20,000␛[0m

␛[1;31m✗ Error: ␛[0mq4: the file breaks off in the middle of a record.
␛[33m! Warning: ␛[0m16.945 ms per token was given without its output
           length, so nothing shows that it belongs to this
           trace.

␛[1mCompleteness␛[0m
␛[32m  ✓ f16  ␛[0mΣ exclusive + idle = window, 1,224,288,000 ns
␛[1;31m  ✗ q4   ␛[0mthe window holds 95 steps where 96 tokens imply 96;
         the last one breaks off in the middle

␛[1mTraced, ms per token␛[0m
␛[1;31mINCOMPLETE TRACE: a look, not a claim. Numbers may be␛[0m
␛[1;31mmissing work.␛[0m
␛[1m                                                       share␛[0m
␛[1m  Category                      f16      q4       Δ     of Δ␛[0m
␛[2m  ──────────────────────────────────────────────────────────␛[0m
␛[1m  KV dequantise               0.000   0.339  +0.339   36.7 %␛[0m
␛[2m    dequantize_block_q…ong)           0.339  +0.339␛[0m
  flash attention             1.400   1.383  -0.017   -1.8 %
␛[2m  [idle]                      0.210   0.211  +0.001    0.1 %␛[0m
␛[2m  ──────────────────────────────────────────────────────────␛[0m
␛[1m  total                      12.753  13.676  +0.923  100.0 %␛[0m

␛[2m  more columns of the same rows:␛[0m
␛[1m                              launches a   launches  stands␛[0m
␛[1m  Category                      step f16  a step q4  out␛[0m
␛[2m  ──────────────────────────────────────────────────────────␛[0m
␛[1m  KV dequantise                        0         20  yes␛[0m
␛[2m    dequantize_block_q…long)                     20  only q4␛[0m
  flash attention                     10         10
␛[2m  ──────────────────────────────────────────────────────────␛[0m
␛[1m  total                              145        165␛[0m
  ␛[2mA share is signed; all of them sum to 100 %.␛[0m

␛[1mScaled to untraced time, for presentation only␛[0m
␛[1;31mINCOMPLETE TRACE: a look, not a claim. Numbers may be␛[0m
␛[1;31mmissing work.␛[0m
␛[1m                 Δ ms per␛[0m
␛[1m  Category          token␛[0m
␛[2m  ───────────────────────␛[0m
  KV dequantise    +0.420

␛[1mNotes␛[0m
␛[2m  · Notice: ␛[0mTwo devices ran kernels; each is accounted for.
␛[2m  · ␛[0m12 records were not in order and were sorted.

␛[1mNext␛[0m
  → Look at dequantize_block_q4_0: it runs on q4 only.
  → Trace q4 again and let the profiler finish writing.
)";

std::string WithoutColor(std::string text) {
  for (std::size_t at = 0; (at = text.find('\x1b', at)) != std::string::npos;) {
    text.erase(at, text.find('m', at) + 1 - at);
  }
  return text;
}

std::string WithVisibleEscapes(std::string text) {
  for (std::size_t at = 0; (at = text.find('\x1b', at)) != std::string::npos;) {
    text.replace(at, 1, "␛");
  }
  return text;
}

std::size_t WidestLine(const std::string& text) {
  std::istringstream lines(text);
  std::size_t widest = 0;
  for (std::string line; std::getline(lines, line);) {
    widest = std::max(widest, base::Columns(line));
  }
  return widest;
}

TEST(Terminal, GoesOnInASecondBlockWhereTheNumbersDoNotFit) {
  EXPECT_EQ(WriteTerminal(SmallReport(), {60, false}), kAt60);
}

TEST(Terminal, KeepsFortyColumnsOfANameBeforeItGoesOnInASecondBlock) {
  EXPECT_EQ(WriteTerminal(SmallReport(), {100, false}), kAt100);
}

TEST(Terminal, ColoursOnlyWhatTheTextSaysToo) {
  EXPECT_EQ(WithVisibleEscapes(WriteTerminal(SmallReport(), {60, true})), kColoredAt60);
  EXPECT_EQ(WithoutColor(WriteTerminal(SmallReport(), {100, true})), kAt100);
}

TEST(Terminal, IsNoWiderThanTheTerminal) {
  for (const std::size_t width : {60u, 72u, 80u, 100u, 132u, 200u}) {
    EXPECT_LE(WidestLine(WriteTerminal(SmallReport(), {width, false})), width);
    const std::string name(64 << 10, 'k');
    EXPECT_LE(WidestLine(WriteTerminal(OneText(name), {width, false})), width);
  }
}

TEST(Terminal, PrintsEveryNumberAtEveryWidth) {
  for (std::size_t width = 0; width <= 200; width += 20) {
    const Report report = SmallReport();
    const std::string text = WriteTerminal(report, {width, false});
    for (const Row& row : report.tables.front().rows) {
      for (std::size_t i = 1; i < row.cells.size(); ++i) {
        EXPECT_THAT(text, testing::HasSubstr(row.cells[i].text));
      }
    }
  }
}

TEST(Terminal, KeepsANumberWholeThatIsWiderThanTheTerminal) {
  Report report = OneText("x");
  const std::string number(70, '9');
  report.tables[0].rows[0].cells[1].text = number;
  EXPECT_THAT(WriteTerminal(report, {60, false}), testing::HasSubstr(number));
}

TEST(Terminal, MarksNothingOfACompleteReport) {
  Report report = SmallReport();
  report.incomplete = false;
  EXPECT_THAT(WriteTerminal(report, {100, false}),
              testing::Not(testing::HasSubstr(kIncompleteMark)));
}

TEST(Terminal, SaysThatATableHasNoRows) {
  Report report;
  report.tables = {{"kernels", "Kernels", {{"kernel", "Kernel", Column::Kind::kText}}, {}, {}}};
  EXPECT_EQ(WriteTerminal(report, {100, false}), "Kernels\n  Kernel\n  ──────\n  (no rows)\n");
}

// GitHub's runner obeys what a job prints: "::" at the start of a line, "##[" anywhere.
TEST(Terminal, PrintsNoWorkflowCommand) {
  for (const char* name : {"::error::owned", "\u00a0::error::owned", "##[error]owned"}) {
    const std::string text = WriteTerminal(OneText(name), {60, false});
    EXPECT_THAT(text, testing::Not(testing::HasSubstr("##[")));
    EXPECT_THAT(text, testing::Not(testing::HasSubstr("::error")));
  }
}

TEST(Terminal, WritesManyRowsInLinearSpace) {
  const std::size_t once = WriteTerminal(LongReport(25'000), {80, false}).size();
  const std::size_t twice = WriteTerminal(LongReport(50'000), {80, false}).size();
  EXPECT_LT(twice, 2.1 * static_cast<double>(once));
}

}  // namespace
}  // namespace culprit::report
