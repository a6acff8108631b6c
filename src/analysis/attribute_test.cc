#include "analysis/attribute.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "analysis/synthetic_trace.h"
#include "analysis/worked_example.h"
#include "base/number_format.h"

namespace culprit::analysis {
namespace {

using namespace synthetic;
using base::Fraction;
using base::NanosF;
using base::PerToken;

Variant Make(const std::string& label, const std::vector<Works>& steps, double noise = 0.02,
             std::uint32_t seed = 1) {
  Recording recording(noise, seed);
  const Completion request = recording.Serve(Prefill(), steps);
  auto analysis = Analyze(recording.Finish(), {.completion = request}, ShippedRules());
  EXPECT_TRUE(analysis) << analysis.error().Text();
  return {label, *std::move(analysis), {}, {}};
}
Variant Make(const std::string& label, const Works& step, double noise = 0.02,
             std::uint32_t seed = 1) {
  return Make(label, std::vector<Works>(96, step), noise, seed);
}

PerToken Millis(double ms) { return PerToken(NanosF(ms * 1e6)); }

std::string ShareText(const std::optional<Fraction>& share) {
  return share ? base::SignedPercent(*share) : "-";
}
std::string Line(std::string_view name, PerToken a, PerToken b, const std::string& share) {
  return fmt::format("{}: {} {} {} {}\n", name, base::Millis(a.value()), base::Millis(b.value()),
                     base::SignedMillis((b - a).value()), share);
}

// What a user works out by hand in a spreadsheet, and wants to see from two traces.
TEST(Attribute, ReproducesTheWorkedExample) {
  const auto [a, b] = WorkedExample();
  EXPECT_TRUE(a.analysis.proof.complete()) << a.analysis.proof.reason();
  EXPECT_TRUE(b.analysis.proof.complete()) << b.analysis.proof.reason();
  ASSERT_TRUE(Comparable(a, b));
  const Attribution attribution = Attribute(a, b);

  const std::set<std::string> named = {"KV dequantise", "dense float/GEMM", "MoE gate/up",
                                       "MoE down",      "dense Q4_0",       "flash attention"};
  std::string table;
  PerToken others_a = Millis(0), others_b = Millis(0);
  int others = 0;
  for (const DeltaRow& row : attribution.rows) {
    if (named.contains(row.name)) {
      table += Line(row.name, row.a.per_token, row.b.per_token, ShareText(row.share));
      continue;
    }
    ++others;
    others_a = others_a + row.a.per_token;
    others_b = others_b + row.b.per_token;
  }
  const auto share = (others_b - others_a) / attribution.traced_delta();
  table += Line(fmt::format("{} others", others), others_a, others_b, ShareText(Fraction(share)));
  table += Line("traced", attribution.traced_a, attribution.traced_b, "");
  ASSERT_TRUE(attribution.untraced);
  const Untraced& untraced = *attribution.untraced;
  table += Line("unexplained", untraced.unexplained_a, untraced.unexplained_b, "");
  table += Line("untraced", untraced.a, untraced.b, "");
  EXPECT_EQ(table,
            "KV dequantise: 0.000 0.339 +0.339 +36.7 %\n"
            "dense float/GEMM: 0.467 0.630 +0.163 +17.6 %\n"
            "MoE gate/up: 1.752 1.892 +0.140 +15.2 %\n"
            "MoE down: 1.009 1.076 +0.068 +7.4 %\n"
            "dense Q4_0: 1.347 1.409 +0.062 +6.7 %\n"
            "flash attention: 1.400 1.383 -0.017 -1.8 %\n"
            "13 others: 6.778 6.947 +0.169 +18.2 %\n"
            "traced: 12.753 13.676 +0.923 \n"
            "unexplained: 2.691 3.269 +0.578 \n"
            "untraced: 15.444 16.945 +1.501 \n");
  EXPECT_EQ(attribution.culprit(), &attribution.rows.front());
  EXPECT_EQ(attribution.culprit()->name, "KV dequantise");
  EXPECT_TRUE(attribution.culprit()->only_in_b());
  EXPECT_TRUE(untraced.traced_change_differs) << "0.923 of 1.501 ms";
}

TEST(Attribute, FindsNothingBetweenATraceAndItself) {
  const Variant a = Make("a", Step());
  const Attribution attribution = Attribute(a, a);
  EXPECT_EQ(attribution.culprit(), nullptr);
  EXPECT_EQ(attribution.traced_delta(), Millis(0));
  for (const DeltaRow& row : attribution.rows) {
    EXPECT_EQ(row.delta(), Millis(0)) << row.name;
    EXPECT_FALSE(row.stands_out) << row.name;
    EXPECT_FALSE(row.share) << row.name;
    for (const DeltaRow& kernel : row.kernels) EXPECT_FALSE(kernel.stands_out) << kernel.name;
  }
}

TEST(Attribute, FindsNothingBetweenTwoRecordingsOfOneBuild) {
  const Attribution attribution = Attribute(Make("a", Step(), 0.02, 1), Make("b", Step(), 0.02, 2));
  for (const DeltaRow& row : attribution.rows) EXPECT_FALSE(row.stands_out) << row.name;
  EXPECT_EQ(attribution.culprit(), nullptr);
}

void ExpectNegated(const DeltaRow& ab, const DeltaRow& ba) {
  SCOPED_TRACE(ab.name);
  EXPECT_EQ(ab.name, ba.name);
  EXPECT_EQ(ab.role, ba.role);
  EXPECT_EQ(ab.full_name, ba.full_name);
  EXPECT_EQ(ab.delta(), -ba.delta());
  EXPECT_EQ(ab.share, ba.share);
  EXPECT_EQ(ab.p, ba.p);
  EXPECT_EQ(ab.stands_out, ba.stands_out);
  EXPECT_EQ(ab.only_in_a(), ba.only_in_b());
  ASSERT_EQ(ab.interval.has_value(), ba.interval.has_value());
  if (ab.interval) {
    EXPECT_EQ(ab.interval->low, -ba.interval->high);
    EXPECT_EQ(ab.interval->high, -ba.interval->low);
  }
  ASSERT_EQ(ab.split.has_value(), ba.split.has_value());
  if (ab.split) {
    EXPECT_EQ(ab.split->more_launches, -ba.split->more_launches);
    EXPECT_EQ(ab.split->slower_launches, -ba.split->slower_launches);
  }
  ASSERT_EQ(ab.kernels.size(), ba.kernels.size());
  for (std::size_t i = 0; i < ab.kernels.size(); ++i) ExpectNegated(ab.kernels[i], ba.kernels[i]);
}
void ExpectNegated(const Attribution& ab, const Attribution& ba) {
  EXPECT_EQ(ab.traced_delta(), -ba.traced_delta());
  ASSERT_EQ(ab.rows.size(), ba.rows.size());
  for (std::size_t i = 0; i < ab.rows.size(); ++i) ExpectNegated(ab.rows[i], ba.rows[i]);
  ASSERT_EQ(ab.untraced.has_value(), ba.untraced.has_value());
  if (ab.untraced) {
    EXPECT_EQ(ab.untraced->unexplained_a, ba.untraced->unexplained_b);
    EXPECT_EQ(ab.untraced->traced_change_differs, ba.untraced->traced_change_differs);
    for (std::size_t i = 0; i < ab.untraced->scaled.size(); ++i) {
      EXPECT_EQ(ab.untraced->scaled[i].artefact, ba.untraced->scaled[i].artefact);
    }
  }
  ASSERT_EQ(ab.speculation.has_value(), ba.speculation.has_value());
  if (ab.speculation) {
    EXPECT_EQ(ab.speculation->more_steps, -ba.speculation->more_steps);
    EXPECT_EQ(ab.speculation->slower_steps, -ba.speculation->slower_steps);
  }
}
// The second law: rows add up to the traced change and, with what is unexplained, to the clock's.
void ExpectAddsUp(const Attribution& attribution) {
  const double tiny = 1e-6;  // of an ns per token
  PerToken rows = Millis(0), a = Millis(0), b = Millis(0);
  double shares = 0;
  for (const DeltaRow& row : attribution.rows) {
    rows = rows + row.delta();
    a = a + row.a.per_token;
    b = b + row.b.per_token;
    shares += row.share.value_or(Fraction(0)).value();
    PerToken kernels = Millis(0);
    for (const DeltaRow& kernel : row.kernels) kernels = kernels + kernel.delta();
    if (!row.kernels.empty()) {
      EXPECT_NEAR(kernels.value().count(), row.delta().value().count(), tiny) << row.name;
    }
    if (row.split) {
      const PerToken parts = row.split->more_launches + row.split->slower_launches;
      EXPECT_NEAR(parts.value().count(), row.delta().value().count(), tiny) << row.name;
    }
  }
  EXPECT_NEAR(rows.value().count(), attribution.traced_delta().value().count(), tiny);
  EXPECT_NEAR(a.value().count(), attribution.traced_a.value().count(), tiny);
  EXPECT_NEAR(b.value().count(), attribution.traced_b.value().count(), tiny);
  EXPECT_NEAR(shares, attribution.traced_delta() == Millis(0) ? 0 : 1, 1e-6);
  if (!attribution.untraced) return;
  const Untraced& untraced = *attribution.untraced;
  const PerToken unexplained = untraced.unexplained_b - untraced.unexplained_a;
  EXPECT_NEAR((rows + unexplained).value().count(), (untraced.b - untraced.a).value().count(),
              tiny);
  PerToken scaled_a = Millis(0), scaled_b = Millis(0);
  for (const ScaledRow& row : untraced.scaled) {
    scaled_a = scaled_a + row.a;
    scaled_b = scaled_b + row.b;
  }
  EXPECT_NEAR(scaled_a.value().count(), untraced.a.value().count(), tiny);
  EXPECT_NEAR(scaled_b.value().count(), untraced.b.value().count(), tiny);
}

TEST(Attribute, NegatesTheWorkedExample) {
  const auto [a, b] = WorkedExample();
  ExpectNegated(Attribute(a, b), Attribute(b, a));
  ExpectAddsUp(Attribute(a, b));
}

// Both laws on random servers: kernels that come and go, several streams and devices, launches that
// wait, steps that differ.
TEST(Attribute, AddsUpAndNegatesOnRandomTraces) {
  std::mt19937 random(20261202);
  const auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  const std::vector<std::string> kernels = {kNorm,    kQuantize,  kMul,        kRope,
                                            kKvWrite, kAttention, kPrefillMul, "xyzzy"};
  const auto random_steps = [&](int count) {
    std::vector<Works> steps;
    for (int step = 0; step < count; ++step) {
      Works works;
      for (int i = pick(1, 8); i > 0; --i) {
        works.push_back({kernels[static_cast<std::size_t>(pick(0, 7))],
                         Nanos(pick(0, 90000)),
                         {static_cast<std::uint32_t>(pick(0, 3)), 1, 1},
                         pick(1, 3),
                         Nanos(pick(-40000, 30000)),
                         pick(1, 3),
                         pick(0, 1)});
      }
      steps.push_back(works + Works{{kHead, Nanos(pick(1, 50000)), {kVocabulary, 1, 1}}});
    }
    return steps;
  };
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE(round);
    const int steps = pick(1, 40);
    Variant a = Make("a", random_steps(steps), 0.2, static_cast<std::uint32_t>(round));
    Variant b = Make("b", random_steps(steps), 0.2, static_cast<std::uint32_t>(round) + 1000);
    if (pick(0, 1) == 1) {
      a.untraced = {Millis(pick(1, 9)), Millis(pick(1, 9))};
      b.untraced = {Millis(pick(1, 9))};
    }
    const Attribution ab = Attribute(a, b);
    ExpectAddsUp(ab);
    ExpectNegated(ab, Attribute(b, a));
    ASSERT_FALSE(HasFailure());
  }
}

const DeltaRow& RowOf(const Attribution& attribution, std::string_view name) {
  static const DeltaRow kNone;
  for (const DeltaRow& row : attribution.rows) {
    if (row.name == name) return row;
  }
  ADD_FAILURE() << "no row " << name;
  return kNone;
}

// Change returns the step with another time for one kernel.
Works Change(Works step, std::string_view kernel, Nanos time) {
  for (Work& work : step) {
    if (work.kernel == kernel) work.time = time;
  }
  return step;
}

TEST(Attribute, NamesTheOneCategoryThatBecameSlower) {
  const Attribution attribution =
      Attribute(Make("a", Step()), Make("b", Change(Step(), kAttention, 300us), 0.02, 2));
  ASSERT_NE(attribution.culprit(), nullptr);
  const DeltaRow& row = *attribution.culprit();
  EXPECT_EQ(row.name, "flash attention");
  EXPECT_NEAR(row.delta().millis(), 0.3, 1e-9);
  EXPECT_NEAR(row.share->value(), 1, 1e-9);
  EXPECT_NEAR(row.split->slower_launches.millis(), 0.3, 1e-9);
  EXPECT_NEAR(row.split->more_launches.millis(), 0, 1e-9);
  for (const DeltaRow& other : attribution.rows) {
    EXPECT_EQ(other.stands_out, other.name == "flash attention") << other.name;
  }
}

TEST(Attribute, BooksAFasterRowInTheOtherDirectionOnItsOwnRow) {
  const Works faster = Change(Change(Step(), kAttention, 300us), kRope, 20us);
  const Attribution attribution = Attribute(Make("a", Step()), Make("b", faster, 0.02, 2));
  EXPECT_EQ(attribution.culprit()->name, "flash attention");
  EXPECT_NEAR(RowOf(attribution, "rope").share->value(), -0.09 / 0.21, 1e-9);
  EXPECT_TRUE(RowOf(attribution, "rope").stands_out);
}

TEST(Attribute, FindsThatOnlyTheGapsGrew) {
  Works slower = Step();
  slower.front().gap = 900us;
  const Attribution attribution = Attribute(Make("a", Step()), Make("b", slower, 0.02, 2));
  ASSERT_NE(attribution.culprit(), nullptr);
  EXPECT_EQ(attribution.culprit()->kind, RowKind::kIdle);
  EXPECT_EQ(attribution.culprit()->name, "[idle]");
  EXPECT_NEAR(attribution.culprit()->delta().millis(), 0.8, 1e-9);
  EXPECT_FALSE(attribution.culprit()->split) << "nobody launches idle time";
}

TEST(Attribute, TellsMoreLaunchesFromSlowerOnes) {
  Works more = Step();
  for (Work& work : more) {
    if (work.kernel == kRope) work.times = 3;
  }
  const Attribution attribution = Attribute(Make("a", Step(), 0), Make("b", more, 0));
  const DeltaRow& row = RowOf(attribution, "rope");
  EXPECT_EQ(row.a.launches_per_step, 3);
  EXPECT_EQ(row.b.launches_per_step, 9);
  EXPECT_NEAR(row.split->more_launches.millis(), 0.3, 1e-9);
  EXPECT_NEAR(row.split->slower_launches.millis(), 0, 1e-9);
}

TEST(Attribute, IsNotMisledByASmallKernelThatJoinsACategory) {
  const Works slower = Change(Step(), kAttention, 300us) +
                       Works{{"void flash_attn_combine_results<128>(float const*)", 2us}};
  const Attribution attribution = Attribute(Make("a", Step(), 0), Make("b", slower, 0));
  const DeltaRow& row = RowOf(attribution, "flash attention");
  EXPECT_NEAR(row.split->slower_launches.millis(), 0.3, 1e-9);
  EXPECT_NEAR(row.split->more_launches.millis(), 0.002, 1e-9);
}

TEST(Attribute, TakesThreeKernelsFusedIntoOneAsOneChange) {
  // scale, add and norm become one kernel that costs less than the three.
  const auto step = [](const Works& part) { return part + Step(); };
  const Works three = {{"scale_f32(float const*)", 20us},
                       {"void k_bin_bcast<op_add>(char const*)", 20us},
                       {"void unary_op_kernel<op_silu>(char const*)", 20us}};
  const Works fused = {{"void unary_gated_op_kernel<op_silu>(char const*)", 25us}};
  const Attribution attribution = Attribute(Make("a", step(three), 0), Make("b", step(fused), 0));
  const DeltaRow& row = RowOf(attribution, "elementwise");
  EXPECT_NEAR(row.delta().millis(), -0.035, 1e-9);
  EXPECT_EQ(row.a.launches_per_step, 3);
  EXPECT_EQ(row.b.launches_per_step, 1);
  std::string kernels;
  for (const DeltaRow& kernel : row.kernels) {
    kernels += kernel.name + (kernel.only_in_a()   ? " only a; "
                              : kernel.only_in_b() ? " only b; "
                                                   : "; ");
  }
  EXPECT_EQ(kernels,
            "unary_gated_op_kernel<op_silu> only b; k_bin_bcast<op_add> only a; scale_f32 only a; "
            "unary_op_kernel<op_silu> only a; ");
}

TEST(Attribute, PairsAKernelWhoseTemplateArgumentsChangedBetweenBuilds) {
  Works renamed = Step();
  for (Work& work : renamed) {
    if (work.kernel == kMul) {
      work.kernel = "void mul_mat_vec_q<(ggml_type)2, 1, false, false, (ggml_prec)0>(void const*)";
    }
    if (work.kernel == kHead)
      work.kernel = "void mul_mat_vec_q<(ggml_type)14, 1, false>(void const*)";
  }
  const Attribution attribution = Attribute(Make("a", Step(), 0), Make("b", renamed, 0));
  for (const DeltaRow& row : attribution.rows) {
    EXPECT_EQ(row.delta(), Millis(0)) << row.name;
    for (const DeltaRow& kernel : row.kernels) {
      EXPECT_FALSE(kernel.only_in_a() || kernel.only_in_b()) << kernel.name;
    }
  }
}

TEST(Attribute, CannotJudgeNoiseFromAFewSteps) {
  const auto steps = [](Nanos time) {
    return std::vector<Works>(4, Change(Step(), kAttention, time));
  };
  const Attribution attribution = Attribute(Make("a", steps(200us)), Make("b", steps(400us)));
  EXPECT_FALSE(RowOf(attribution, "flash attention").interval);
  EXPECT_FALSE(RowOf(attribution, "flash attention").p);
  EXPECT_FALSE(attribution.noise_known());
  EXPECT_EQ(attribution.culprit()->name, "flash attention") << "the largest change";
}

TEST(Attribute, SplitsSpeculationIntoMoreStepsAndSlowerSteps) {
  // Both make 60 tokens, one a step against two a step of two draft passes and a verification.
  const Works draft = Layer() + Works{{kHead, 300us, {kVocabulary, 1, 1}}};
  const Works verify =
      Repeat(Layer(), 6) + Works{{"void mul_mat_vec_q<(ggml_type)14, 4, false, false>(void const*)",
                                  1400us,
                                  {kVocabulary, 1, 1}}};
  Recording recording;
  Completion request = recording.Serve(Prefill(), Repeat(draft, 2) + verify, 30);
  request.generated = request.timings->predicted = Tokens(61);
  request.timings->draft = experiment::DraftCounters{Tokens(60), Tokens(30)};
  auto analysis = Analyze(recording.Finish(), {.completion = request}, ShippedRules());
  ASSERT_TRUE(analysis);
  EXPECT_TRUE(analysis->proof.complete()) << analysis->proof.reason();
  EXPECT_EQ(analysis->steps->draft_passes, 60);
  const Variant b{"spec", *std::move(analysis), {}, {}};
  const Variant a = Make("plain", std::vector<Works>(60, verify), 0);
  const Attribution attribution = Attribute(a, b);
  ASSERT_TRUE(attribution.speculation);
  // 6.2 ms a step and 1 step per token against 8.4 and 0.5.
  EXPECT_NEAR(attribution.per_step_a->value().count(), 6.2e6, 1e-3);
  EXPECT_NEAR(attribution.per_step_b->value().count(), 8.4e6, 1e-3);
  EXPECT_NEAR(attribution.speculation->more_steps.millis(), -0.5 * (6.2 + 8.4) / 2, 1e-9);
  EXPECT_NEAR(attribution.speculation->slower_steps.millis(), 0.75 * (8.4 - 6.2), 1e-9);
  EXPECT_NEAR(attribution.traced_delta().millis(), 4.2 - 6.2, 1e-9);
  EXPECT_TRUE(RowOf(attribution, "draft head").only_in_b());
  ExpectAddsUp(attribution);
  ExpectNegated(attribution, Attribute(b, a));
}

TEST(Attribute, FlagsATracedChangeThatTheClockDoesNotConfirm) {
  Variant a = Make("a", Step());
  Variant b = Make("b", Change(Step(), kAttention, 300us));  // +0.3 of 4 ms
  const auto differs = [&](double untraced_a, double untraced_b) {
    a.untraced = {Millis(untraced_a)};
    b.untraced = {Millis(untraced_b)};
    return Attribute(a, b).untraced->traced_change_differs;
  };
  EXPECT_FALSE(differs(4.0, 4.3));
  EXPECT_FALSE(differs(4.0, 4.24));
  EXPECT_FALSE(differs(4.0, 4.42));
  EXPECT_TRUE(differs(4.0, 4.22)) << "a third more than the clock says";
  EXPECT_TRUE(differs(4.0, 4.44)) << "a third less";
  EXPECT_TRUE(differs(4.0, 3.7)) << "the other direction";
  EXPECT_TRUE(differs(4.0, 4.0)) << "no change at all";
}

TEST(Attribute, FlagsWhatOnlyScalingMoved) {
  // Tracing slowed b by a third: stretched back, everything untouched in b seems to shrink.
  Works slower = Step();
  slower.front().gap = 1400us;
  Variant a = Make("a", Step());
  Variant b = Make("b", slower, 0.02, 2);
  a.untraced = {Millis(4.0)};
  b.untraced = {Millis(4.0)};
  const Attribution attribution = Attribute(a, b);
  const Untraced& untraced = *attribution.untraced;
  std::set<std::string> artefacts;
  for (const ScaledRow& row : untraced.scaled) {
    if (row.artefact) artefacts.insert(row.name);
  }
  EXPECT_EQ(artefacts, (std::set<std::string>{"LM head", "[idle]", "dense Q4_0", "flash attention",
                                              "norm", "rope", "KV write", "quantise activations"}));
  a.untraced = {Millis(4.0)};
  b.untraced = {Millis(5.3)};  // as traced: nothing is stretched
  const Attribution same = Attribute(a, b);
  for (const ScaledRow& row : same.untraced->scaled) EXPECT_FALSE(row.artefact) << row.name;
}

TEST(Comparable, RefusesOtherWork) {
  const Variant a = Make("f16", std::vector<Works>(20, Step()));
  const Variant longer = Make("q4", std::vector<Works>(21, Step()));
  auto status = Comparable(a, longer);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, base::ErrorCode::kMismatch);
  EXPECT_EQ(status.error().Text(),
            "f16 has 20 tokens after the first, q4 has 21; trace both with the same request, "
            "temperature 0 and the same length");

  Variant other_prompt = a;
  other_prompt.label = "q4";
  other_prompt.analysis.found.prompt = Tokens(30000);
  status = Comparable(a, other_prompt);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().Text(),
            "f16 has 20000 prompt tokens, q4 has 30000; attention costs what the context is long: "
            "use one prompt");

  other_prompt.analysis.found.prompt.reset();
  EXPECT_TRUE(Comparable(a, other_prompt)) << "nobody said that they differ";

  Variant prefill = a;
  prefill.analysis.found.window.phase = Phase::kPrefill;
  status = Comparable(a, prefill);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().Text(), "one side is prefill, the other decode");
}

TEST(Variant, TakesTheMedianOfItsUntracedRuns) {
  Variant variant = Make("a", std::vector<Works>(2, Step()));
  EXPECT_FALSE(variant.untraced_median());
  variant.untraced = {Millis(5), Millis(3), Millis(9)};
  EXPECT_EQ(variant.untraced_median(), Millis(5));
  variant.untraced.push_back(Millis(4));
  EXPECT_EQ(variant.untraced_median(), Millis(4.5));
}

}  // namespace
}  // namespace culprit::analysis
