#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/number_format.h"
#include "report/sample_reports.h"
#include "report/writers.h"

namespace culprit::report {
namespace {

// Lines end in CR LF (RFC 4180); they are compared without the CR.
constexpr const char* kSmall =
    R"_(incomplete,table,row,category,a_ms_per_token,b_ms_per_token,delta_ms_per_token,share_of_delta,a_launches_per_step,b_launches_per_step,stands_out,adjusted_p
1,traced,row,KV dequantise,0,0.339,0.339,0.367,0,20,true,1.5e-07
1,traced,detail,"dequantize_block_q4_0<__half, (ggml_type)2>(void const*, __half*, long)",,0.339,0.339,,,20,only q4,
1,traced,row,flash attention,1.4,1.383,-0.017,-0.018,10,10,false,0.4
1,traced,row,[idle],0.21,0.21100000000000002,0.001,0.001,,,false,
1,traced,total,total,12.753,13.676,0.923,1,145,165,,
incomplete,table,row,category,delta_ms_per_token
1,scaled,row,KV dequantise,0.42
incomplete,table,row,id,subject,holds,text
1,proof,row,conservation,f16,true,"Σ exclusive + idle = window, 1,224,288,000 ns"
1,proof,row,steps,q4,false,the window holds 95 steps where 96 tokens imply 96; the last one breaks off in the middle
incomplete,table,row,kind,id,text
1,sentences,row,headline,compare,q4 takes 0.923 ms more per token than f16 (+7.2 %).
1,sentences,row,headline,compare,"KV dequantise is the largest part of it: +0.339 ms, 36.7 %."
1,sentences,row,error,torn_tail,q4: the file breaks off in the middle of a record.
1,sentences,row,warning,bare_untraced,"16.945 ms per token was given without its output length, so nothing shows that it belongs to this trace."
1,sentences,row,notice,mixed_devices,Two devices ran kernels; each is accounted for.
1,sentences,row,info,out_of_order,12 records were not in order and were sorted.
1,sentences,row,table,traced,A share is signed; all of them sum to 100 %.
1,sentences,row,advice,compare,Look at dequantize_block_q4_0: it runs on q4 only.
1,sentences,row,advice,compare,Trace q4 again and let the profiler finish writing.
)_";

std::string WithoutCr(std::string text) {
  for (std::size_t at = 0; (at = text.find("\r\n", at)) != std::string::npos;) text.erase(at, 1);
  return text;
}

TEST(Csv, WritesEveryTableWithItsOwnHeader) {
  const std::string text = WriteCsv(SmallReport());
  EXPECT_EQ(WithoutCr(text), kSmall);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\r'), std::count(text.begin(), text.end(), '\n'));
}

TEST(Csv, HasTheIncompleteColumnOnlyWhereItIsTrue) {
  Report report = SmallReport();
  report.incomplete = false;
  const std::string text = WriteCsv(report);
  EXPECT_THAT(text, testing::StartsWith("table,row,category,a_ms_per_token"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("incomplete")));
}

struct Field {
  std::string text, written;
};

TEST(Csv, KeepsFormulasAndSeparatorsInert) {
  const std::vector<Field> fields = {{"=cmd()", "'=cmd()"},
                                     {"+1", "'+1"},
                                     {"-1", "'-1"},
                                     {"@SUM(A1)", "'@SUM(A1)"},
                                     {"\t=1", "'\t=1"},
                                     {"\r=1", "\"'\r=1\""},
                                     {"=1,\"2\"", "\"'=1,\"\"2\"\"\""},
                                     {"a,b", "\"a,b\""},
                                     {"a\nb", "\"a\nb\""},
                                     {"a=b", "a=b"},
                                     {"", ""}};
  for (const Field& field : fields) {
    EXPECT_THAT(WriteCsv(OneText(field.text)),
                testing::HasSubstr("\r\nkernels,row," + field.written + ",1\r\n"));
  }
}

TEST(Csv, WritesNumbersThatReadBackAsTheSame) {
  Report report = OneText("x");
  const double third = 12.753 / 3;
  report.tables[0].rows[0].cells[1].value = third;
  const std::string text = WriteCsv(report);
  const std::string before = "kernels,row,x,";
  EXPECT_EQ(std::stod(text.substr(text.find(before) + before.size())), third);
  EXPECT_EQ(base::Exact(-0.0), "0");
  EXPECT_EQ(base::Exact(145), "145");
}

TEST(Csv, WritesNoNumberAsEmpty) {
  Report report = OneText("x");
  report.tables[0].rows[0].cells[1].value = std::nan("");
  EXPECT_THAT(WriteCsv(report), testing::HasSubstr("\r\nkernels,row,x,\r\n"));
}

TEST(Csv, KeepsLongNamesWhole) {
  const std::string name(64 << 10, 'k');
  EXPECT_THAT(WriteCsv(OneText(name)), testing::HasSubstr("\r\nkernels,detail," + name + ",2\r\n"));
}

TEST(Csv, WritesEveryOneOfManyRows) {
  const std::string text = WriteCsv(LongReport(50'000));
  EXPECT_THAT(text, testing::HasSubstr("\r\nkernels,detail,kernel_50000,1e-05\r\n"));
}

}  // namespace
}  // namespace culprit::report
