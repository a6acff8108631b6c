#include "analysis/analyze.h"

#include <gtest/gtest.h>

#include "analysis/ownership.h"
#include "analysis/synthetic_trace.h"

namespace culprit::analysis {
namespace {

using namespace synthetic;
using base::ErrorCode;
using base::Finding;

TEST(Analyze, TellsTheWholeOfAWindow) {
  Recording recording;
  const Completion request = recording.Serve(Prefill(), Step(), 40);
  const auto analysis = Analyze(recording.Finish(), {.completion = request}, ShippedRules());
  ASSERT_TRUE(analysis) << analysis.error().Text();
  EXPECT_EQ(analysis->tokens, Tokens(40));
  EXPECT_EQ(analysis->dispatches, 11 + 40 * Step().size());
  EXPECT_EQ(analysis->rollup.steps, 40);
  EXPECT_EQ(analysis->steps_per_token(), 1);
  EXPECT_NEAR(analysis->per_token(analysis->rollup.wall).millis(), 4.0, 1e-12);
  std::map<std::string, Nanos> categories;
  for (const KernelCost& kernel : analysis->rollup.kernels) {
    categories[kernel.category] += kernel.exclusive / 40;
  }
  EXPECT_EQ(categories, (std::map<std::string, Nanos>{{"norm", 400us},
                                                      {"quantise activations", 150us},
                                                      {"dense Q4_0", 1050us},
                                                      {"rope", 150us},
                                                      {"KV write", 150us},
                                                      {"flash attention", 600us},
                                                      {"LM head", 1400us}}));
}

TEST(Analyze, CountsTheStepsOfTokensThatCameLate) {
  Recording recording;
  Completion request = recording.Serve(Prefill(), Step(), 40);
  request.arrivals.front() += 9ms;
  request.arrivals.back() += 19ms;
  const auto analysis = Analyze(recording.Finish(), {.completion = request}, ShippedRules());
  ASSERT_TRUE(analysis) << analysis.error().Text();
  EXPECT_TRUE(analysis->proof.complete()) << analysis->proof.reason();
  EXPECT_EQ(analysis->rollup.steps, 40);
  EXPECT_NEAR(analysis->per_token(analysis->rollup.wall).millis(), 4.0, 1e-12);
}

// A step that the trace lost is not made good by one from before the first token.
TEST(Analyze, MissesAStepThatWasLost) {
  Recording recording;
  Completion request = recording.Serve(Prefill(), Step(), 40);
  request.arrivals.back() += 4ms;
  request.generated = Tokens(42);
  request.timings.reset();
  const auto analysis = Analyze(recording.Finish(), {.completion = request}, ShippedRules());
  ASSERT_TRUE(analysis) << analysis.error().Text();
  EXPECT_EQ(analysis->proof.reason().substr(0, 14), "40 steps seen,");
}

// Layered is a recording of 10 steps that work 100 µs for layer 0, twice that for layer 1 in two
// kernels, and 400 µs for none.
std::pair<trace::Trace, Completion> Layered() {
  trace::TraceBuilder builder("synthetic", "memory");
  const auto lane = builder.AddLane(0, std::nullopt, 1);
  const auto shape = builder.AddGeometry({});
  const auto mul = builder.AddKernel("MUL_MAT<ffn_up, Q8_0>");
  const auto norm = builder.AddKernel("RMS_NORM<norm, F32>");
  const auto head = builder.AddKernel("MUL_MAT<result_output, Q8_0>");
  std::int64_t now = 1'000'000;
  const auto add = [&](trace::KernelId kernel, std::int64_t time, trace::Layer layer) {
    builder.AddDispatch(now, now + time, kernel, shape, lane, layer);
    now += time;
  };
  Completion request;
  request.sent = base::HostTime(Nanos(now));
  for (int pass = 0; pass <= 10; ++pass) {
    add(mul, 100'000, trace::Layer(0));
    add(mul, 150'000, trace::Layer(1));
    add(norm, 50'000, trace::Layer(1));
    add(head, 400'000, std::nullopt);
    request.arrivals.emplace_back(Nanos(now));
  }
  request.prompt = Tokens(7);
  request.generated = Tokens(11);
  return {*std::move(builder).Finish(), std::move(request)};
}

TEST(Analyze, AddsUpByLayer) {
  const auto [trace, request] = Layered();
  const auto analysis = Analyze(trace, {.completion = request}, ShippedRules(), By::kLayer);
  ASSERT_TRUE(analysis) << analysis.error().Text();
  EXPECT_TRUE(analysis->proof.complete()) << analysis->proof.reason();
  std::map<std::string, std::map<std::string, Nanos>> layers;
  for (const KernelCost& kernel : analysis->rollup.kernels) {
    layers[kernel.category][kernel.short_name] += kernel.exclusive / 10;
  }
  EXPECT_EQ(layers,
            (std::map<std::string, std::map<std::string, Nanos>>{
                {"layer 0", {{"MUL_MAT<ffn_up, Q8_0>", 100us}}},
                {"layer 1", {{"MUL_MAT<ffn_up, Q8_0>", 150us}, {"RMS_NORM<norm, F32>", 50us}}},
                {"[outside layers]", {{"MUL_MAT<result_output, Q8_0>", 400us}}}}));
}

TEST(Analyze, RefusesLayersOfATraceThatTellsNone) {
  Recording recording;
  const Completion request = recording.Serve(Prefill(), Step(), 4);
  const auto analysis =
      Analyze(recording.Finish(), {.completion = request}, ShippedRules(), By::kLayer);
  ASSERT_FALSE(analysis);
  EXPECT_EQ(analysis.error().code, ErrorCode::kUsage);
  EXPECT_EQ(analysis.error().message, "the trace does not tell the layers of the model");
}

TEST(Analyze, GivesEachDeviceItsOwnIdleTime) {
  Recording recording;
  recording.builder().AddDevice(0, "left");
  recording.builder().AddDevice(1, "right");
  recording.builder().AddDevice(2, "never used");
  const Works step = {{"a", 600us, {}, 1, {}, 1, 0},
                      {"gemv", 400us, {kVocabulary, 1, 1}, 1, {}, 1, 0},
                      {"b", 250us, {}, 1, 500us, 1, 1}};
  const Completion request = recording.Serve(Prefill(), step, 10);
  const auto analysis = Analyze(recording.Finish(), {.completion = request}, ShippedRules());
  ASSERT_TRUE(analysis);
  std::string devices;
  for (const DeviceTime& device : analysis->devices) {
    devices += device.name + " " + std::to_string(device.busy.count() / 1000) + " busy, " +
               std::to_string(device.idle.count() / 1000) + " idle; ";
  }
  EXPECT_EQ(devices, "left 10000 busy, 0 idle; right 2500 busy, 7500 idle; ");
  EXPECT_EQ(analysis->rollup.idle, 0us) << "some device works all the time";
  EXPECT_EQ(analysis->rollup.exclusive(), 10ms) << "what both do at once is shared";
}

// On each device busy + idle is the window, and idle is what ownership finds on it alone.
TEST(Analyze, AgreesWithTheOwnershipOfEachDeviceAlone) {
  std::mt19937 random(20261203);
  const auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  for (int round = 0; round < 100; ++round) {
    Works all;
    for (int i = pick(1, 30); i > 0; --i) {
      all.push_back(
          {"k", Nanos(pick(1, 90)), {}, pick(1, 3), Nanos(pick(-40, 60)), pick(1, 3), pick(0, 2)});
    }
    Recording together;
    together.Run(all);
    const auto analysis = Analyze(together.Finish(), {.whole_trace = true}, ShippedRules());
    ASSERT_TRUE(analysis);
    for (const DeviceTime& device : analysis->devices) {
      Recording alone;
      Works own;
      std::copy_if(all.begin(), all.end(), std::back_inserter(own), [&](const Work& work) {
        return "device " + std::to_string(work.device) == device.name;
      });
      alone.Run(own);
      const auto trace = alone.Finish();
      Window window{.begin = analysis->found.window.begin, .end = analysis->found.window.end};
      SetDispatchRange(trace, window);
      EXPECT_EQ(device.idle, Own(trace, window).idle) << device.name << ", round " << round;
      EXPECT_EQ(device.busy + device.idle, window.length());
    }
  }
}

TEST(Analyze, SaysWhatSummingDurationsWouldBlame) {
  Works step = Step();
  step[6].gap = -150us;  // attention is launched while three kernels before it run
  Recording recording;
  const Completion request = recording.Serve(Prefill(), step, 10);
  const auto analysis = Analyze(recording.Finish(), {.completion = request}, ShippedRules());
  ASSERT_TRUE(analysis);
  for (const auto& entry : analysis->diagnostics.entries()) {
    if (entry.finding != Finding::kSummedExceedsExclusive) continue;
    EXPECT_EQ(entry.example, "flash_attn_ext_vec F16");
  }
  EXPECT_TRUE(analysis->diagnostics.Has(Finding::kSummedExceedsExclusive));
}

TEST(Analyze, CountsKernelsThatNoRuleKnows) {
  Recording recording;
  const Completion request =
      recording.Serve(Prefill(), Step() + Works{{"xyzzy", 10us}, {"plugh", 10us}}, 4);
  const auto analysis = Analyze(recording.Finish(), {.completion = request}, ShippedRules());
  ASSERT_TRUE(analysis);
  EXPECT_EQ(analysis->diagnostics.count(Finding::kUnclassified), 2);
}

TEST(Analyze, RefusesAWindowWithNothingInIt) {
  Recording recording;
  recording.Run(Step());
  recording.Rest(1s);
  recording.Run(Step());
  const auto analysis = Analyze(recording.Finish(), {.given = {{500ms, 600ms}}}, ShippedRules());
  ASSERT_FALSE(analysis);
  EXPECT_EQ(analysis.error().Text(),
            "memory: no dispatch lies in the window; check that the request's clock and the "
            "trace's clock are the same");
}

TEST(Analyze, RefusesATraceThatTakesNoTime) {
  Recording recording;
  recording.Run({{"instant", 0us}});
  const auto analysis = Analyze(recording.Finish(), {.whole_trace = true}, ShippedRules());
  ASSERT_FALSE(analysis);
  EXPECT_EQ(analysis.error().code, ErrorCode::kNoWindow);
}

TEST(Analyze, DividesByStepsWhenNobodyCountedTokens) {
  Recording recording;
  recording.Run(Repeat(Step(), 5));
  auto trace = recording.Finish();
  const auto analysis = Analyze(trace, {.whole_trace = true}, ShippedRules());
  ASSERT_TRUE(analysis);
  EXPECT_EQ(analysis->tokens, Tokens(5));
  EXPECT_FALSE(analysis->proof.complete());
}

TEST(Analyze, CountsHostCallsInsideTheWindowOnly) {
  Recording recording;
  recording.Run(Prefill());
  const auto begin = recording.now().time_since_epoch().count();
  recording.Run(Step());
  recording.builder().AddHostCall("hipStreamSynchronize", begin - 1000, begin + 3000);
  recording.builder().AddHostCall("hipLaunchKernel", begin + 4000, begin + 5000);
  recording.builder().AddHostCall("hipMalloc", begin - 9000, begin - 8000);
  recording.builder().AddHostCall("absurd", INT64_MIN, INT64_MIN + 1);
  recording.builder().AddHostCall("absurd too", INT64_MIN, INT64_MAX);
  const auto analysis = Analyze(recording.Finish(), {.given = {{100ms, 104ms}}}, ShippedRules());
  ASSERT_TRUE(analysis) << analysis.error().Text();
  EXPECT_EQ(analysis->host_call_time, 4us);
  EXPECT_EQ(analysis->longest_host_call, "hipStreamSynchronize");
}

TEST(Analyze, SurvivesAnyVocabulary) {
  Recording recording;
  recording.Run(Repeat(Step(), 3));
  const auto trace = recording.Finish();
  for (const std::int64_t vocabulary : {INT64_MIN, std::int64_t{-1}, std::int64_t{0}, INT64_MAX}) {
    EXPECT_TRUE(Analyze(trace, {.vocabulary = vocabulary, .whole_trace = true}, ShippedRules()));
  }
}

}  // namespace
}  // namespace culprit::analysis
