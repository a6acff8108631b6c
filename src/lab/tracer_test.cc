#include "lab/tracer.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "lab/fake_lab.h"

namespace culprit::lab {
namespace {

using base::ErrorCode;
using experiment::TrialRecord;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// FakeCollector writes a word for a trace, or fails.
class FakeCollector : public collect::Collector {
 public:
  explicit FakeCollector(std::optional<base::Error> failure) : failure_(std::move(failure)) {}
  [[nodiscard]] std::string_view name() const override { return "fake"; }
  [[nodiscard]] base::Status Check(const collect::Subject& /*subject*/,
                                   const sys::StopSignal& /*stop*/) const override {
    return {};
  }
  base::Result<collect::Launch> Prepare(const collect::Subject& /*subject*/,
                                        const collect::Place& place,
                                        const sys::StopSignal& /*stop*/) override {
    folder_ = place.folder;
    if (failure_ && failure_->code == ErrorCode::kEnvironment) return base::Fail(*failure_);
    return collect::Launch{.wrapper = {"env"}, .environment = {{"FAKE_TRACED", "1"}}};
  }
  base::Result<collect::Collected> Finish(sys::Process& server,
                                          const collect::RequestTimes& request,
                                          const sys::StopSignal&) override {
    EXPECT_LT(request.sent, request.ended);
    EXPECT_FALSE(server.Poll());  // it is the collector that ends the server
    if (failure_) return base::Fail(*failure_);
    std::ofstream(folder_ + "/trace.bin") << "trace";
    server.Stop(std::chrono::seconds(5));
    return collect::Collected{.file = "trace.bin", .bytes = 5, .how = "it was told to"};
  }

 private:
  std::optional<base::Error> failure_;
  std::string folder_;
};

class Traces : public FakeLab {
 protected:
  base::Result<std::vector<std::string>> Take() {
    Bench bench = BenchWith(device_);
    return TakeTraces({.spec = spec_,
                       .prompt = kPrompt,
                       .earlier = earlier_,
                       .timed = timed_,
                       .collector = [this] { return std::make_unique<FakeCollector>(failure_); },
                       .counters = counters_},
                      bench, notebook_);
  }

  gpu::ScriptedDevice device_{Idle};
  std::optional<base::Error> failure_;
  std::vector<TrialRecord> earlier_, timed_, kept_;
  std::vector<std::string> counters_;
  Notebook notebook_{.begin = [this]() -> base::Result<std::string> {
                       const std::string folder =
                           folder_.path() + "/" + std::to_string(kept_.size());
                       std::filesystem::create_directory(folder);
                       return folder;
                     },
                     .end =
                         [this](const TrialRecord& record) {
                           kept_.push_back(record);
                           return base::Status();
                         },
                     .starting = [](const PlannedTrial&) { return base::Status(); }};
};

TEST_F(Traces, AreTakenOfEachVariantOnce) {
  const auto problems = Take();
  ASSERT_TRUE(problems) << problems.error().Text();
  EXPECT_THAT(*problems, IsEmpty());
  ASSERT_EQ(kept_.size(), 2u);
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    EXPECT_EQ(kept_[i].id, static_cast<int>(i) + 1);
    EXPECT_EQ(kept_[i].variant, i == 0 ? "a" : "b");
    EXPECT_EQ(kept_[i].baseline, i == 0);
    EXPECT_EQ(kept_[i].collector, "fake");
    EXPECT_EQ(kept_[i].trace->file, "trace.bin");
    EXPECT_TRUE(kept_[i].valid());
  }
  ExpectNoServerIsLeft();
}

TEST_F(Traces, AreTakenOnlyWhereTheyAreMissing) {
  TrialRecord lost{.id = 1, .variant = "a", .baseline = true, .collector = "fake"};
  lost.objections = {{"trace_failed", "it was lost"}};
  TrialRecord there{.id = 2, .variant = "b", .collector = "fake"};
  there.completion.emplace();
  there.trace.emplace();
  earlier_ = {lost, there};
  ASSERT_TRUE(Take());
  ASSERT_EQ(kept_.size(), 1u);
  EXPECT_EQ(kept_[0].variant, "a");
  EXPECT_EQ(kept_[0].id, 3);
}

// A pass of counting has what it asks for, a trace or another pass has not.
TEST_F(Traces, OfAPassAreTakenBesideOthers) {
  TrialRecord trace{.id = 1, .variant = "a", .baseline = true, .collector = "fake"};
  trace.completion.emplace();
  TrialRecord other = trace;
  other.id = 2;
  other.counters = {"SQ_WAVES"};
  earlier_ = {trace, other};
  counters_ = {"L2CacheHit", "SQ_WAVES"};
  spec_.variants.resize(1);
  ASSERT_TRUE(Take());
  ASSERT_EQ(kept_.size(), 1u);
  EXPECT_EQ(kept_[0].id, 3);
  EXPECT_EQ(kept_[0].counters, counters_);
  earlier_.push_back(kept_[0]);
  EXPECT_TRUE(HasAllTraces(spec_, earlier_, counters_));
  EXPECT_FALSE(HasAllTraces(spec_, earlier_, std::vector<std::string>{"L2CacheHit"}));
  failure_ = base::Error{ErrorCode::kDamagedTrace, "it is torn"};
  counters_ = {"A", "B"};
  EXPECT_THAT(Take().value(), ElementsAre("a has no counts of A, B: it is torn"));
}

TEST_F(Traces, ThatAreLostLeaveTheOthers) {
  failure_ = base::Error{ErrorCode::kDamagedTrace, "the trace is torn", "", "try again"};
  const auto problems = Take();
  ASSERT_TRUE(problems);
  EXPECT_THAT(*problems, ElementsAre("a has no trace: the trace is torn; try again",
                                     "b has no trace: the trace is torn; try again"));
  ASSERT_EQ(kept_.size(), 2u);
  EXPECT_EQ(kept_[0].objections[0].id, "trace_failed");
  EXPECT_TRUE(kept_[0].completion);
  ExpectNoServerIsLeft();
}

TEST_F(Traces, ThatCannotBeTakenStartNoServer) {
  failure_ = base::Error{ErrorCode::kEnvironment, "there is no profiler here"};
  const auto problems = Take();
  ASSERT_TRUE(problems);
  EXPECT_EQ(problems->size(), 2u);
  EXPECT_THAT(problems->front(), HasSubstr("there is no profiler here"));
  EXPECT_THAT(servers_, IsEmpty());
}

TEST_F(Traces, AreTakenAgainWhenTheMachineWasBusy) {
  gpu::ScriptedDevice busy([](int) { return gpu::Reading{.busy = base::Fraction(1)}; });
  Bench bench = BenchWith(busy);
  spec_.variants.resize(1);
  const auto problems =
      TakeTraces({.spec = spec_,
                  .prompt = kPrompt,
                  .earlier = {},
                  .timed = {},
                  .collector = [this] { return std::make_unique<FakeCollector>(failure_); }},
                 bench, notebook_);
  ASSERT_TRUE(problems);
  EXPECT_THAT(problems->front(), HasSubstr("a has no trace: the machine was not idle"));
  EXPECT_EQ(kept_.size(), static_cast<std::size_t>(kMostTraces));
}

TEST_F(Traces, AreOfTheServerThatWasMeasured) {
  TrialRecord measured{.id = 4, .variant = "a", .facts = {{"backend", "ROCm0"}}};
  measured.completion.emplace();
  timed_ = {measured};
  spec_.variants.resize(1);
  const auto problems = Take();
  ASSERT_TRUE(problems);
  EXPECT_THAT(problems->front(), HasSubstr("backend was \"ROCm0\" in trial 4 and is \"CPU\" now"));
}

TEST_F(Traces, OfOneVariantAgainstItselfAreTwo) {
  spec_.variants.resize(1);
  spec_.design.same_variant = true;
  ASSERT_TRUE(Take());
  ASSERT_EQ(kept_.size(), 2u);
  EXPECT_TRUE(kept_[0].baseline);
  EXPECT_FALSE(kept_[1].baseline);
}

}  // namespace
}  // namespace culprit::lab
