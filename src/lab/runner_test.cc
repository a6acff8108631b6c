#include "lab/runner.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

#include "experiment/order.h"
#include "lab/fake_lab.h"

namespace culprit::lab {
namespace {

using base::ErrorCode;
using experiment::TrialRecord;
using testing::ElementsAre;
using testing::HasSubstr;

// Runs experiments whose trials are kept in memory.
class Experiment : public FakeLab {
 protected:
  base::Result<Outcome> Run(gpu::Device& device, std::vector<TrialRecord> earlier = {}) {
    Bench bench = BenchWith(device);
    return RunExperiment(spec_, kPrompt, {}, std::move(earlier), bench, notebook_);
  }
  base::Result<Outcome> Run() { return Run(device_); }

  // "0b" is a valid trial of b in pair 0; "0b!" a void one.
  static std::string Short(const TrialRecord& trial) {
    return fmt::format("{}{}{}", trial.pair, trial.variant, trial.valid() ? "" : "!");
  }
  [[nodiscard]] std::vector<std::string> Kept() const {
    std::vector<std::string> all;
    for (const TrialRecord& trial : kept_) all.push_back(Short(trial));
    return all;
  }
  static Outcome Value(const base::Result<Outcome>& outcome) {
    EXPECT_TRUE(outcome) << outcome.error().Text();
    return outcome.value_or(Outcome{});
  }

  gpu::ScriptedDevice device_{Idle};
  std::vector<TrialRecord> kept_;
  Notebook notebook_{.begin = [this]() -> base::Result<std::string> {
                       const std::string folder = folder_.path() + fmt::format("/{}", kept_.size());
                       std::filesystem::create_directory(folder);
                       return folder;
                     },
                     .end =
                         [this](const TrialRecord& record) {
                           kept_.push_back(record);
                           return base::Status();
                         },
                     .starting =
                         [this](const PlannedTrial&) {
                           return stop_.requested() ? base::Status(base::Fail(sys::Interrupted()))
                                                    : base::Status();
                         }};
};

TEST_F(Experiment, RunsItsPairsInOrder) {
  spec_.design.pairs = 4;
  const Outcome outcome = Value(Run());
  EXPECT_TRUE(outcome.finished) << outcome.why;
  std::vector<std::string> expected;
  for (const auto& slot : experiment::OrderOfTrials(2, 4, spec_.design.seed.value_or(0))) {
    expected.push_back(fmt::format("{}{}", slot.pair, slot.variant == 0 ? "a" : "b"));
  }
  EXPECT_EQ(Kept(), expected);
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    EXPECT_EQ(kept_[i].id, static_cast<int>(i) + 1);
    EXPECT_EQ(kept_[i].position, static_cast<int>(i));
    EXPECT_EQ(kept_[i].baseline, kept_[i].variant == "a");
  }
  ExpectNoServerIsLeft();
}

TEST_F(Experiment, RunsOneVariantAgainstItself) {
  spec_.variants.resize(1);
  spec_.design.same_variant = true;
  const Outcome outcome = Value(Run());
  EXPECT_TRUE(outcome.finished) << outcome.why;
  ASSERT_EQ(Kept(), (std::vector<std::string>{"0a", "0a", "1a", "1a"}));
  EXPECT_NE(kept_[0].baseline, kept_[1].baseline);
}

// Of seed 1, b comes first.
TEST_F(Experiment, RunsAWholePairAgainAfterATemporaryObjection) {
  SetFaultOnce(a(), "stop-early");
  const Outcome outcome = Value(Run());
  EXPECT_TRUE(outcome.finished) << outcome.why;
  EXPECT_THAT(Kept(), ElementsAre("0b", "0a!", "0b", "0a", "1a", "1b"));
  EXPECT_EQ(kept_[1].objections.front().text,
            "it generated 4 tokens instead of 8 (finish reason stop)");
  EXPECT_EQ(kept_[3].position, 3);
}

TEST_F(Experiment, DoesNotRunTheRestOfAVoidPair) {
  SetFaultOnce(b(), "stop-early");
  EXPECT_TRUE(Value(Run()).finished);
  EXPECT_THAT(Kept(), ElementsAre("0b!", "0b", "0a", "1a", "1b"));
}

TEST_F(Experiment, GivesUpWhenTooManyPairsAreVoid) {
  Set(b(), "FAKE_FAULT", "stop-early");
  const Outcome outcome = Value(Run());
  EXPECT_FALSE(outcome.finished);
  EXPECT_EQ(outcome.why,
            "too many pairs were void, the last one because it generated 4 tokens instead of 8 "
            "(finish reason stop)");
  EXPECT_EQ(kept_.size(), 1u + kMostReruns);
}

TEST_F(Experiment, GivesUpWhenTheMachineIsBusyTwiceInARow) {
  gpu::ScriptedDevice busy([](int) { return gpu::Reading{.busy = base::Fraction(1)}; });
  const Outcome outcome = Value(Run(busy));
  EXPECT_FALSE(outcome.finished);
  EXPECT_THAT(outcome.why, HasSubstr("the machine was not idle: still busy after 2 readings"));
  EXPECT_THAT(outcome.why, HasSubstr("--idle-readings 0 would not wait"));
  EXPECT_EQ(kept_.size(), 2u);
}

TEST_F(Experiment, EndsAtAnObjectionThatLasts) {
  Set(a(), "FAKE_FAULT", "wrong-prompt-count");
  const Outcome outcome = Value(Run());
  EXPECT_FALSE(outcome.finished);
  EXPECT_EQ(outcome.why, "trial 2 (a): recalibrate: the prompt had 5 tokens instead of 4");
  EXPECT_THAT(Kept(), ElementsAre("0b", "0a!"));
}

TEST_F(Experiment, EndsWhenThePromptComesFromTheCache) {
  Set(b(), "FAKE_FAULT", "cached");
  EXPECT_EQ(Value(Run()).why, "trial 1 (b): 1 prompt tokens came from the cache");
}

TEST_F(Experiment, EndsWhenAServerDies) {
  Set(a(), "FAKE_FAULT", "die-loading");
  const Outcome outcome = Value(Run());
  EXPECT_THAT(outcome.why, testing::StartsWith("trial 2 (a): llama-server left before it was "
                                               "healthy (killed by signal 6): "));
  EXPECT_THAT(outcome.why, testing::Not(HasSubstr("server.log")));  // which is about to move
  ExpectNoServerIsLeft();
}

TEST_F(Experiment, VoidsATrialBesideAForeignProcess) {
  gpu::ScriptedDevice device(Idle, std::vector<pid_t>{::getpid()});
  EXPECT_EQ(Value(Run(device)).why,
            fmt::format("too many pairs were void, the last one because the device was also used "
                        "by {} lab_test",
                        ::getpid()));
}

TEST_F(Experiment, VoidsAThrottledTrial) {
  // Long enough for the sampler, which looks each 200 ms.
  Set(b(), "FAKE_MS_PER_TOKEN", "60");
  gpu::ScriptedDevice device([](int) {
    return gpu::Reading{.busy = base::Fraction(0), .throttle = std::vector<std::string>{"heat"}};
  });
  Bench bench = BenchWith(device);
  bench.ended = [this](const sys::ProcessIdentity&) { stop_.Request(SIGINT); };  // once is enough
  EXPECT_FALSE(RunExperiment(spec_, kPrompt, {}, {}, bench, notebook_));
  ASSERT_EQ(kept_.size(), 1u);
  EXPECT_THAT(kept_[0].objections, testing::Contains(experiment::Objection{
                                       "throttled", "the device throttled during decode: heat"}));
}

TEST_F(Experiment, VoidsAVariantThatBecomesAnother) {
  SetFaultOnce(b(), "hostile-props");  // another build and another model
  const Outcome outcome = Value(Run());
  EXPECT_FALSE(outcome.finished);
  EXPECT_THAT(outcome.why, HasSubstr("build was"));
}

TEST_F(Experiment, IsInterruptedBetweenTrials) {
  notebook_.end = [this](const TrialRecord& record) {
    kept_.push_back(record);
    stop_.Request(SIGTERM);
    return base::Status();
  };
  const auto outcome = Run();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::kInterrupted);
  EXPECT_THAT(Kept(), ElementsAre("0b"));
  ExpectNoServerIsLeft();
}

TEST_F(Experiment, FailsWhenATrialCannotBeKept) {
  notebook_.end = [](const TrialRecord&) {
    return base::Status(base::Fail(ErrorCode::kUnreadable, "no space left on device"));
  };
  const auto outcome = Run();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::kUnreadable);
  ExpectNoServerIsLeft();
}

TEST_F(Experiment, GoesOnBehindCompletePairs) {
  spec_.design.pairs = 3;
  ASSERT_TRUE(Value(Run()).finished);
  ASSERT_THAT(Kept(), ElementsAre("0b", "0a", "1a", "1b", "2a", "2b"));
  auto earlier = std::exchange(kept_, {});
  earlier.resize(3);  // the second pair was broken off
  ASSERT_TRUE(Value(Run(device_, earlier)).finished);
  EXPECT_THAT(Kept(), ElementsAre("1a", "1b", "2a", "2b"));
  EXPECT_EQ(kept_[0].id, 4);
  EXPECT_EQ(kept_[0].position, 3);
}

TEST_F(Experiment, DoesNothingWhenAllPairsAreThere) {
  ASSERT_TRUE(Value(Run()).finished);
  const auto earlier = std::exchange(kept_, {});
  EXPECT_TRUE(Value(Run(device_, earlier)).finished);
  EXPECT_THAT(Kept(), ElementsAre());
}

}  // namespace
}  // namespace culprit::lab
