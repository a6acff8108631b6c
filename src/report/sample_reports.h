// sample_reports: reports that the tests of the writers share.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "report/report.h"

namespace culprit::report {

inline Cell Text(const std::string& text) { return {text, text}; }
inline Cell Number(const char* text, double value) { return {text, value}; }
inline Cell Absent() { return {"", std::monostate()}; }

// SmallReport has one of everything: an incomplete comparison of a KV cache in q4_0 with one in
// f16.
inline Report SmallReport() {
  Report report;
  report.kind = "compare";
  report.title = "Decode of q4 against f16: 96 tokens after a prompt of 20,000";
  report.incomplete = true;
  report.headline = {"q4 takes 0.923 ms more per token than f16 (+7.2 %).",
                     "KV dequantise is the largest part of it: +0.339 ms, 36.7 %."};
  report.proof = {
      {"conservation", "f16", "Σ exclusive + idle = window, 1,224,288,000 ns", true},
      {"steps", "q4",
       "the window holds 95 steps where 96 tokens imply 96; the last one breaks off in the middle",
       false}};
  report.notes = {
      {Note::Level::kError, "torn_tail", "q4: the file breaks off in the middle of a record."},
      {Note::Level::kWarning, "bare_untraced",
       "16.945 ms per token was given without its output length, so nothing shows that it belongs "
       "to this trace."},
      {Note::Level::kNotice, "mixed_devices", "Two devices ran kernels; each is accounted for."},
      {Note::Level::kInfo, "out_of_order", "12 records were not in order and were sorted."}};

  Table traced = {"traced", "Traced, ms per token", {}, {}, {}};
  traced.columns = {{"category", "Category", Column::Kind::kText},
                    {"a_ms_per_token", "f16"},
                    {"b_ms_per_token", "q4"},
                    {"delta_ms_per_token", "Δ"},
                    {"share_of_delta", "share of Δ"},
                    {"a_launches_per_step", "launches a step f16"},
                    {"b_launches_per_step", "launches a step q4"},
                    {"stands_out", "stands out", Column::Kind::kText},
                    {"adjusted_p", "", Column::Kind::kNumber, Audience::kMachines}};
  traced.rows = {
      {{Text("KV dequantise"),
        Number("0.000", 0),
        Number("0.339", 0.339),
        Number("+0.339", 0.339),
        Number("36.7 %", 0.367),
        Number("0", 0),
        Number("20", 20),
        {"yes", true},
        Number("", 1.5e-7)},
       0,
       Emphasis::kStrong},
      {{Text("dequantize_block_q4_0<__half, (ggml_type)2>(void const*, __half*, long)"), Absent(),
        Number("0.339", 0.339), Number("+0.339", 0.339), Absent(), Absent(), Number("20", 20),
        Text("only q4"), Absent()},
       1,
       Emphasis::kNone},
      {{Text("flash attention"),
        Number("1.400", 1.4),
        Number("1.383", 1.383),
        Number("-0.017", -0.017),
        Number("-1.8 %", -0.018),
        Number("10", 10),
        Number("10", 10),
        {"", false},
        Number("", 0.4)},
       0,
       Emphasis::kNone},
      {{Text("[idle]"),
        Number("0.210", 0.21),
        Number("0.211", 0.1 + 0.111),
        Number("+0.001", 0.001),
        Number("0.1 %", 0.001),
        Absent(),
        Absent(),
        {"", false},
        Absent()},
       0,
       Emphasis::kFaint},
      {{Text("total"), Number("12.753", 12.753), Number("13.676", 13.676), Number("+0.923", 0.923),
        Number("100.0 %", 1), Number("145", 145), Number("165", 165), Absent(), Absent()},
       0,
       Emphasis::kTotal}};
  traced.notes = {"A share is signed; all of them sum to 100 %."};

  Table scaled = {"scaled", "Scaled to untraced time, for presentation only", {}, {}, {}};
  scaled.columns = {{"category", "Category", Column::Kind::kText},
                    {"delta_ms_per_token", "Δ ms per token"}};
  scaled.rows = {{{Text("KV dequantise"), Number("+0.420", 0.42)}, 0, Emphasis::kNone}};
  report.tables = {traced, scaled};
  report.advice = {"Look at dequantize_block_q4_0: it runs on q4 only.",
                   "Trace q4 again and let the profiler finish writing."};
  return report;
}

// OneText is a report whose every text is the same; what a file says may turn up anywhere.
inline Report OneText(const std::string& text) {
  Report report;
  report.kind = "analyze";
  report.title = text;
  report.headline = {text};
  report.proof = {{"steps", text, text, false}};
  report.notes = {{Note::Level::kWarning, "warned", text}, {Note::Level::kInfo, "told", text}};
  Table table = {
      "kernels", text, {{"kernel", text, Column::Kind::kText}, {"ms", "ms"}}, {}, {text}};
  table.rows = {{{Text(text), Number("1", 1)}, 0, Emphasis::kNone},
                {{Text(text), Number("2", 2)}, 1, Emphasis::kNone}};
  report.tables = {table};
  report.advice = {text};
  return report;
}

// LongReport has one category with many kernels.
inline Report LongReport(std::size_t kernels) {
  Report report;
  report.kind = "analyze";
  report.title = "Many kernels";
  Table table = {
      "kernels", "Kernels", {{"kernel", "Kernel", Column::Kind::kText}, {"ms", "ms"}}, {}, {}};
  table.rows.push_back({{Text("everything"), Number("1.000", 1)}, 0, Emphasis::kNone});
  for (std::size_t i = 1; i <= kernels; ++i) {
    table.rows.push_back(
        {{Text(fmt::format("kernel_{}", i)), Number("0.000", 1e-5)}, 1, Emphasis::kNone});
  }
  report.tables = {std::move(table)};
  return report;
}

}  // namespace culprit::report
