#include "experiment/contract.h"

#include <gmock/gmock.h>

namespace culprit::experiment {
namespace {

using base::Tokens;
using testing::ElementsAre;
using testing::IsEmpty;

const Workload kWorkload{.prompt = Tokens(1000), .output = Tokens(128)};

TrialRecord Good(const std::string& variant = "f16") {
  TrialRecord trial;
  trial.id = 1;
  trial.variant = variant;
  Completion completion;
  completion.prompt = Tokens(1000);
  completion.generated = Tokens(128);
  completion.finish_reason = "length";
  completion.text = "the same";
  completion.timings = ServerTimings{.prompt = Tokens(1000), .cached = Tokens(0)};
  completion.timings->predicted = Tokens(128);
  completion.timings->predicted_time = std::chrono::milliseconds(1270);
  trial.completion = completion;
  trial.gate = Gate{.idle = true};
  trial.facts = {{"backend", "ROCm0"}, {"layers_on_device", "25/25"}};
  trial.objects = {{"/opt/a/libggml.so", "1234"}};
  return trial;
}

std::vector<std::string> Ids(const std::vector<Objection>& objections) {
  std::vector<std::string> ids;
  for (const Objection& objection : objections) ids.push_back(objection.id);
  return ids;
}

// What is objected to when one thing is changed in a good trial.
template <typename Change>
std::vector<std::string> After(Change change, const TrialRecord* earlier = nullptr) {
  TrialRecord trial = Good();
  change(trial);
  return Ids(ObjectTo(trial, kWorkload, earlier));
}

Spec TwoVariants() {
  Spec spec;
  spec.variants = {{.label = "f16", .binary = "/a"}, {.label = "q4", .binary = "/a"}};
  return spec;
}

TEST(Contract, HasNothingAgainstATrialThatDidWhatWasAsked) {
  const TrialRecord earlier = Good();
  EXPECT_THAT(After([](TrialRecord&) {}, &earlier), IsEmpty());
}

TEST(Contract, CountsTokensInAndOut) {
  EXPECT_THAT(After([](auto& t) { t.completion->prompt = Tokens(999); }),
              ElementsAre("prompt_tokens"));
  EXPECT_THAT(After([](auto& t) { t.completion->timings->predicted = Tokens(100); }),
              ElementsAre("output_tokens"));
  EXPECT_THAT(After([](auto& t) { t.completion->finish_reason = "stop"; }),
              ElementsAre("output_tokens"));
  EXPECT_THAT(After([](auto& t) { t.completion->timings->cached = Tokens(64); }),
              ElementsAre("cached_prompt"));
  EXPECT_THAT(After([](auto& t) { t.completion->timings.reset(); }), ElementsAre("no_timings"));
}

TEST(Contract, BelievesAServersTimesOnlyAsFarAsTheClientsClockAllows) {
  using std::chrono::milliseconds;
  const auto at = [](int ms) { return base::HostTime(milliseconds(ms)); };
  const auto timed = [&](int prompt_ms, int decode_ms, int stream_ms, int whole_ms) {
    return After([&](TrialRecord& trial) {
      auto& completion = *trial.completion;
      completion.sent = at(0);
      completion.arrivals = {at(whole_ms - stream_ms), at(whole_ms)};
      completion.ended = at(whole_ms);
      completion.timings->prompt_time = milliseconds(prompt_ms);
      completion.timings->predicted_time = milliseconds(decode_ms);
    });
  };
  EXPECT_THAT(timed(500, 1000, 1000, 1510), IsEmpty());
  EXPECT_THAT(timed(500, 1000, 0, 1510), IsEmpty());  // something on the way kept the stream back
  EXPECT_THAT(timed(500, 0, 1000, 1510), ElementsAre("no_timings"));
  EXPECT_THAT(timed(500, 1, 1000, 1510), ElementsAre("timings_disagree"));
  EXPECT_THAT(timed(500, 100'000, 1000, 1510), ElementsAre("timings_disagree"));
  EXPECT_THAT(timed(1, 1, 40, 50), IsEmpty());  // too short to tell
}

TEST(Contract, WantsTheCacheWhereDecodeAloneIsMeasured) {
  Workload workload = kWorkload;
  workload.cache_prompt = true;
  TrialRecord trial = Good();
  EXPECT_THAT(Ids(ObjectTo(trial, workload, nullptr)), ElementsAre("prompt_not_cached"));
  trial.completion->timings->cached = Tokens(999);
  EXPECT_THAT(ObjectTo(trial, workload, nullptr), IsEmpty());
}

TEST(Contract, WantsTheMachineToItself) {
  EXPECT_THAT(After([](auto& t) { t.gate->idle = false; }), ElementsAre("not_idle"));
  EXPECT_THAT(After([](auto& t) { t.foreign_processes = {"17 python3"}; }),
              ElementsAre("foreign_process"));
  EXPECT_THAT(After([](auto& t) { t.readings["decode"].throttled = {"thermal"}; }),
              ElementsAre("throttled"));
  EXPECT_THAT(After([](auto& t) { t.readings["after"].throttled = {"thermal"}; }), IsEmpty());
  EXPECT_THAT(After([](auto& t) { t.readings["decode"].throttled = {"sw_power_cap"}; }), IsEmpty());
}

TEST(Contract, WantsAVariantToBeTheSameServerEachTime) {
  const TrialRecord earlier = Good();
  EXPECT_THAT(After([](auto& t) { t.facts["backend"] = "CPU"; }, &earlier),
              ElementsAre("server_changed"));
  EXPECT_THAT(After([](auto& t) { t.objects["/opt/a/libggml.so"] = "5678"; }, &earlier),
              ElementsAre("server_changed"));
}

// Seen on an H200: the first start compiled kernels with libnvidia-ptxjitcompiler.so, later ones
// found them in the driver's cache.
TEST(Contract, AllowsForLibrariesThatAreLoadedOnlyWhenNeeded) {
  TrialRecord earlier = Good();
  earlier.objects["/usr/lib/libjitcompiler.so"] = "1";
  EXPECT_THAT(After([](auto&) {}, &earlier), IsEmpty());
}

TEST(Contract, FindsACandidateThatFellBackToTheCpu) {
  TrialRecord candidate = Good("q4");
  candidate.facts = {{"backend", "CPU"}};
  Spec spec = TwoVariants();
  EXPECT_THAT(Ids(ObjectToPair(spec, Good(), candidate)),
              ElementsAre("layers_differ", "backend_differs"));
  spec.variants[1].binary = "/b";  // another build is no reason to be on the CPU
  EXPECT_THAT(Ids(ObjectToPair(spec, Good(), candidate)),
              ElementsAre("layers_differ", "backend_differs"));
  spec.variants[1].arguments = {"-ngl", "0"};  // this is
  EXPECT_THAT(ObjectToPair(spec, Good(), candidate), IsEmpty());
}

// Two real runs: 47.53 and 46.33 tokens a second, 95.96 % and 94.71 % accepted, other texts.
TEST(Contract, DoesNotCompareOtherTextsAtAnotherAcceptance) {
  TrialRecord baseline = Good(), candidate = Good("q4");
  baseline.completion->timings->draft = DraftCounters{Tokens(10'000), Tokens(9'596)};
  candidate.completion->timings->draft = DraftCounters{Tokens(10'000), Tokens(9'471)};
  EXPECT_THAT(ObjectToPair(TwoVariants(), baseline, candidate), IsEmpty());
  candidate.completion->text = "another";
  EXPECT_THAT(Ids(ObjectToPair(TwoVariants(), baseline, candidate)),
              ElementsAre("acceptance_differs"));
}

TEST(Contract, TellsWhatMayPassFromWhatWillNot) {
  EXPECT_TRUE(Temporary({"foreign_process", ""}));
  EXPECT_FALSE(Temporary({"backend_differs", ""}));
}

}  // namespace
}  // namespace culprit::experiment
