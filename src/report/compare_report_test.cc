#include "report/compare_report.h"

#include <gtest/gtest.h>

#include "analysis/worked_example.h"

namespace culprit::report {
namespace {

using namespace analysis::synthetic;
using analysis::Attribute;
using analysis::Variant;
using base::NanosF;
using base::PerToken;

// Make records 40 tokens of this step, without noise. untraced is in ms per token.
Variant Make(const std::string& label, const Works& step, std::vector<double> untraced = {}) {
  Recording recording;
  const auto request = recording.Serve(Prefill(), step, 40);
  auto analysis =
      analysis::Analyze(recording.Finish(), {.completion = request}, analysis::ShippedRules());
  EXPECT_TRUE(analysis) << analysis.error().Text();
  Variant variant{label, *std::move(analysis), {}, {}};
  for (const double ms : untraced) variant.untraced.emplace_back(NanosF(ms * 1e6));
  return variant;
}
Report Tell(const Variant& a, const Variant& b) {
  const std::vector<Variant> variants = {a, b};
  const std::vector<analysis::Attribution> attributions = {Attribute(a, b)};
  return CompareReport(variants, attributions, {.kernels = 3});
}
Works With(Works step, std::string_view kernel, Nanos time, int times = 1) {
  for (Work& work : step) {
    if (work.kernel != kernel) continue;
    work.time = time;
    work.times = times;
  }
  return step;
}
std::string NoteOf(const Report& report, std::string_view id) {
  for (const Note& note : report.notes) {
    if (note.id == id) return note.text;
  }
  return "";
}
using Sentences = std::vector<std::string>;

TEST(CompareReport, TellsTheWorkedExample) {
  const auto [a, b] = WorkedExample();
  const Report report = Tell(a, b);
  EXPECT_EQ(report.title, "f16 → q4");
  EXPECT_EQ(report.headline,
            (Sentences{"q4 decodes 1.501 ms per token slower than f16 (+9.7 %), untraced: 16.945 "
                       "against 15.444 (one run each).",
                       "KV dequantise costs +0.339 ms per token, 36.7 % of the traced change."}));
  EXPECT_EQ(report.advice,
            Sentences{"KV dequantise: dequantize_block_q4_0<__half> runs only in q4. "
                      "Find out what asks for it."});
  EXPECT_EQ(NoteOf(report, "not_valid_for_untraced_delta"),
            "The attribution is not valid for the untraced change: traced +0.923 ms per token, "
            "untraced +1.501. In the traced runs kernels changed by +0.873 and idle time by "
            "+0.050: the rows explain the traced runs, and what the clock adds is [unexplained].");
  EXPECT_EQ(NoteOf(report, "tracing_cost"),
            "traced against untraced time: -17.4 % (f16), -19.3 % (q4)");
}

TEST(CompareReport, SaysHowMuchFasterTheClockFoundIt) {
  const Report report = Tell(Make("old", Step(), {4.0, 4.1, 4.2}),
                             Make("new", With(Step(), kAttention, 100us), {3.8, 3.81}));
  EXPECT_EQ(report.headline.front(),
            "new decodes 0.295 ms per token faster than old (-7.2 %), untraced: 3.805 against "
            "4.100 (medians of 2 and 3 runs).");
  EXPECT_EQ(report.headline[1],
            "flash attention costs -0.300 ms per token, 100.0 % of the traced change.");
  EXPECT_EQ(report.advice,
            Sentences{"flash attention: each launch is faster (200.00 → 100.00 µs)."});
}

TEST(CompareReport, SaysNothingAboutSpeedWithoutUntracedTimes) {
  const Report report = Tell(Make("a", Step()), Make("b", With(Step(), kAttention, 300us)));
  EXPECT_EQ(report.headline.front(),
            "b costs +0.300 ms per token against a in the traced runs. Tracing changes speed: "
            "without untraced times nothing is said about how much slower b is.");
  ASSERT_EQ(report.tables.size(), 1u) << "nothing to scale to";
}

TEST(CompareReport, NamesNoCulpritBetweenEqualTraces) {
  const Variant a = Make("a", Step(), {4.0});
  const Report report = Tell(a, a);
  EXPECT_EQ(report.headline,
            (Sentences{"a decodes as fast as a, untraced: 4.000 ms per token (one run each).",
                       "No category stands out of the step-to-step noise in the direction of the "
                       "change."}));
  EXPECT_EQ(report.advice,
            Sentences{"Nothing to chase here: measure more pairs before looking at kernels."});
  EXPECT_EQ(NoteOf(report, "not_valid_for_untraced_delta"), "");
}

TEST(CompareReport, AdvisesToProfileASlowerKernel) {
  EXPECT_EQ(Tell(Make("a", Step()), Make("b", With(Step(), kAttention, 300us))).advice,
            Sentences{"flash attention: each launch is slower (200.00 → 300.00 µs); profile "
                      "flash_attn_ext_vec<128, 1, F16, F16, false> alone."});
}

TEST(CompareReport, AdvisesAboutMoreAndFewerLaunches) {
  const Variant once = Make("once", Step());
  const Variant often = Make("often", With(Step(), kRope, 50us, 3));
  EXPECT_EQ(Tell(once, often).advice,
            Sentences{"rope: it is launched more often (3 → 9 a step); a launch costs about the "
                      "same."});
  EXPECT_EQ(Tell(often, once).advice,
            Sentences{"rope: it is launched less often (9 → 3 a step); a launch costs about the "
                      "same."});
}

TEST(CompareReport, AdvisesAboutAKernelThatAppearsOrVanishes) {
  const Variant without = Make("f16", Step());
  const Variant with = Make(
      "q4", Works{{"void dequantize_block_q4_0<__half>(void const*, __half*)", 500us}} + Step());
  EXPECT_EQ(Tell(without, with).advice,
            Sentences{"KV dequantise: dequantize_block_q4_0<__half> runs only in q4. Find out what "
                      "asks for it."});
  EXPECT_EQ(Tell(with, without).advice,
            Sentences{"KV dequantise: dequantize_block_q4_0<__half> runs only in q4. Find out what "
                      "asks for it."});
}

TEST(CompareReport, AdvisesAboutAKernelChosenInPlaceOfAnother) {
  Works tiled = Step();
  for (Work& work : tiled) {
    if (work.kernel != kAttention) continue;
    work.kernel = "void flash_attn_tile<128, 128, 4, 1, false>(char const*)";
    work.time = 400us;
  }
  EXPECT_EQ(Tell(Make("a", Step()), Make("b", tiled)).advice,
            Sentences{"flash attention: b runs flash_attn_tile<128, 128, 4, 1, false> where a runs "
                      "flash_attn_ext_vec<128, 1, F16, F16, false>. Find out why the other kernel "
                      "is chosen."});
}

TEST(CompareReport, LooksPastAKernelTooSmallToMatter) {
  const Works slower = With(Step(), kAttention, 300us) +
                       Works{{"void flash_attn_combine_results<128>(float const*)", 2us}};
  EXPECT_EQ(Tell(Make("a", Step()), Make("b", slower)).advice,
            Sentences{"flash attention: each launch is slower (200.00 → 300.00 µs); profile "
                      "flash_attn_ext_vec<128, 1, F16, F16, false> alone."});
}

TEST(CompareReport, AdvisesAboutTheHostWhenOnlyIdleTimeChanged) {
  Works waiting = Step();
  waiting.front().gap = 900us;
  const Variant a = Make("a", Step());
  const Variant b = Make("b", waiting);
  EXPECT_EQ(Tell(a, b).headline[1],
            "[idle] costs +0.800 ms per token, 100.0 % of the traced change.");
  EXPECT_EQ(Tell(a, b).advice,
            Sentences{"More time passes with nothing running: look at the host (sampling, "
                      "launches, clocks of the CPU, synchronising copies), and check that idle "
                      "also grows without a profiler."});
  EXPECT_EQ(Tell(b, a).advice,
            Sentences{"Less time passes with nothing running: check that idle also shrinks "
                      "without a profiler."});
}

TEST(CompareReport, TellsWhatSummingDurationsWouldHaveBlamed) {
  Works early = Step();
  for (Work& work : early) {
    if (work.kernel == kKvWrite) work.gap = -50us;  // launched while the one before it runs
  }
  EXPECT_EQ(NoteOf(Tell(Make("a", Step()), Make("b", early)), "summed_would_blame"),
            "adding up durations would have booked +0.150 ms per token on k_set_rows<float, long, "
            "__half>; it waits for earlier kernels of its stream and owns 0.000");
}

TEST(CompareReport, KnowsNoStepsInPrefill) {
  const auto make = [](const char* label, Nanos time) {
    Recording recording;
    const auto request = recording.Serve({{kPrefillMul, time, {48, 16, 1}, 10}}, Step(), 4);
    auto analysis = analysis::Analyze(recording.Finish(),
                                      {.phase = analysis::Phase::kPrefill, .completion = request},
                                      analysis::ShippedRules());
    EXPECT_TRUE(analysis);
    return Variant{label, *std::move(analysis), {}, {}};
  };
  const Report report = Tell(make("a", 10ms), make("b", 12ms));
  EXPECT_EQ(report.headline.front(),
            "b costs +1.000 ms per 1,000 prompt tokens against a in the traced runs. Tracing "
            "changes speed: without untraced times nothing is said about how much slower b is.");
  for (const char* key : {"a_launches_per_step", "b_launches_per_step"}) {
    const auto& columns = report.tables.front().columns;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (columns[i].key != key) continue;
      EXPECT_TRUE(
          std::holds_alternative<std::monostate>(report.tables.front().rows[0].cells[i].value));
    }
  }
}

TEST(CompareReport, ShowsHostileNamesHarmlessly) {
  const std::string hostile = "\x1b[31mevil\n<b>,\"|";
  const Variant a = Make(hostile, Step());
  const Variant b = Make("b", Works{{hostile + "(int)", 500us}} + Step());
  const Report report = Tell(a, b);
  const auto harmless = [](const std::string& text) {
    EXPECT_EQ(text.find_first_of("\x1b\n"), std::string::npos) << text;
  };
  harmless(report.title);
  for (const auto& text : report.headline) harmless(text);
  for (const auto& text : report.advice) harmless(text);
  for (const Note& note : report.notes) harmless(note.text);
  for (const Check& check : report.proof) {
    harmless(check.subject);
    harmless(check.text);
  }
  for (const Table& table : report.tables) {
    harmless(table.title);
    for (const Column& column : table.columns) harmless(column.heading);
    for (const Row& row : table.rows) {
      for (const Cell& cell : row.cells) {
        harmless(cell.text);
        if (const auto* text = std::get_if<std::string>(&cell.value)) harmless(*text);
      }
    }
  }
}

}  // namespace
}  // namespace culprit::report
