#include "collect/rocprofv3/finish.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace culprit::collect::rocprofv3 {
namespace {

using base::Nanos;
using namespace std::chrono_literals;
using Kind = Verdict::Kind;

const Limits kLimits;

const char* Name(Action action) {
  constexpr const char* kNames[] = {"wait",          "term",   "quit", "term-children",
                                    "kill-children", "verify", "kill"};
  return kNames[static_cast<int>(action)];
}

const char* Name(Phase phase) {
  constexpr const char* kNames[] = {"returned", "asked", "flushing",   "verifying",
                                    "safe",     "lost",  "interrupted"};
  return kNames[static_cast<int>(phase)];
}

// A server of which nothing is to be seen but that it lives and uses no CPU.
Observation At(Nanos now) {
  Observation seen;
  seen.now = now;
  seen.open = false;
  seen.cpu = Nanos(0);
  seen.written = 0;
  seen.catches_quit = true;
  return seen;
}

Observation Flushing(Nanos now, std::uint64_t bytes) {
  Observation seen = At(now);
  seen.marks.handler = seen.marks.finalizing = seen.marks.writing = true;
  seen.bytes = bytes;
  seen.file = bytes;
  seen.open = true;
  return seen;
}

template <typename Change>
Observation With(Observation seen, Change change) {
  change(seen);
  return seen;
}

Observation Closed(Observation seen) {
  seen.open = false;
  return seen;
}

Observation Done(Observation seen) {
  seen.marks.done = true;
  seen.open = false;
  return seen;
}

Observation Gone(Observation seen) {
  seen.alive = false;
  return seen;
}

// Machine runs observations through Next and keeps the actions. The verdict given is that of each
// kVerify before it.
struct Machine {
  explicit Machine(Verdict given = {Kind::kComplete, "", 100}) : verdict(std::move(given)) {}

  Machine& See(Observation seen) {
    if (verified) seen.verdict = verdict;
    auto [next, action] = Next(state, seen, kLimits);
    state = next;
    verified = verified || action == Action::kVerify;
    actions += std::string(actions.empty() ? "" : " ") + Name(action);
    last = std::move(seen);
    return *this;
  }
  // Again sees the same some time later.
  Machine& Again(Nanos later) {
    Observation seen = last;
    seen.now += later;
    return See(seen);
  }
  [[nodiscard]] std::string Text() const { return actions + ": " + Name(state.phase); }

  Verdict verdict;
  State state{.clean = true};
  bool verified = false;
  std::string actions;
  Observation last;
};

TEST(Finish, KillsAtOnceWhenTheToolSaysThatItIsDone) {
  Machine machine;
  machine.See(At(0s)).See(At(1s)).See(Flushing(2s, 10)).See(Flushing(3s, 20));
  machine.See(Done(Flushing(4s, 30))).Again(0s);
  EXPECT_EQ(machine.Text(), "term wait wait wait verify kill: safe");
  EXPECT_EQ(machine.state.evidence, Evidence::kSaid);
  EXPECT_EQ(machine.state.progressed - machine.state.asked, Nanos(4s));
}

TEST(Finish, TakesAClosedFileForTheEndWithoutAWord) {
  Machine machine;
  machine.See(At(0s)).See(With(Flushing(1s, 10), [](auto& seen) { seen.marks = {}; }));
  machine.See(With(Closed(Flushing(2s, 20)), [](auto& seen) { seen.marks = {}; }));
  machine.Again(50ms).Again(50ms);
  EXPECT_EQ(machine.Text(), "term wait wait verify kill: safe");
  EXPECT_EQ(machine.state.evidence, Evidence::kClosed);
}

TEST(Finish, TakesNoPauseForTheEndWhileTheFileIsOpen) {
  Machine machine;
  machine.See(At(0s)).See(Flushing(1s, 10)).Again(60s).Again(120s).Again(100s);
  EXPECT_EQ(machine.Text(), "term wait wait wait wait: flushing");
}

TEST(Finish, TakesNoPauseForTheEndWhileAJournalIsThere) {
  Machine machine;
  const auto hot = [](auto& seen) { seen.journal = true, seen.open = std::nullopt; };
  machine.See(At(0s)).See(With(Flushing(1s, 10), hot)).Again(60s).Again(120s).Again(100s);
  EXPECT_EQ(machine.Text(), "term wait wait wait wait: flushing");
}

TEST(Finish, WaitsLongWhereNobodyCanSeeWhoHasTheFileOpen) {
  Machine machine;
  const auto unseen = [](auto& seen) { seen.open = std::nullopt; };
  machine.See(At(0s)).See(With(Flushing(1s, 10), unseen)).Again(10s).Again(9s).Again(1s).Again(0s);
  EXPECT_EQ(machine.Text(), "term wait wait wait verify kill: safe");
  EXPECT_EQ(machine.state.evidence, Evidence::kStill);
}

TEST(Finish, CountsWhatIsWrittenElsewhereAsALifeSign) {
  Machine machine;
  const auto unseen = [](auto& seen) { seen.open = std::nullopt; };
  machine.See(At(0s)).See(With(Flushing(1s, 10), unseen)).Again(19s);
  machine.See(With(machine.last, [](auto& seen) { seen.written = 5, seen.now += 1s; })).Again(19s);
  EXPECT_EQ(machine.Text(), "term wait wait wait wait: flushing");
}

TEST(Finish, GoesOnAfterAVerdictThatIsNotYetComplete) {
  Machine machine({Kind::kUncovered, "its last dispatch is early", 50});
  machine.See(At(0s)).See(Closed(Flushing(1s, 10))).Again(50ms).Again(50ms);
  EXPECT_EQ(machine.Text(), "term wait verify wait: flushing");
  machine.verdict = {Kind::kComplete, "", 100};
  machine.See(Flushing(2s, 20)).See(Closed(Flushing(3s, 30))).Again(50ms).Again(0s);
  EXPECT_EQ(machine.Text(), "term wait verify wait wait wait verify kill: safe");
}

TEST(Finish, BelievesNoVerdictAboutAFileThatWasOpenedOnceMore) {
  Machine machine;
  machine.See(At(0s)).See(Closed(Flushing(1s, 10))).Again(50ms).See(Flushing(2s, 10));
  EXPECT_EQ(machine.Text(), "term wait verify wait: flushing");
  machine.See(Closed(Flushing(3s, 20))).Again(50ms).See(Closed(Flushing(4s, 30)));
  EXPECT_EQ(machine.Text(), "term wait verify wait wait verify wait: flushing");
}

TEST(Finish, ReadsAFileOnceForEachStateOfIt) {
  Machine machine({Kind::kGaps, "3 dispatches are missing", 97});
  machine.See(At(0s)).See(Closed(Flushing(1s, 10))).Again(50ms).Again(50ms).Again(50ms).Again(1s);
  EXPECT_EQ(machine.Text(), "term wait verify wait wait wait: flushing");
}

TEST(Finish, BelievesNoWordWhileTheFileIsOpen) {
  for (const bool journal : {false, true}) {
    Machine machine;
    const auto open = [&](auto& seen) { seen.open = !journal, seen.journal = journal; };
    machine.See(At(0s)).See(Flushing(1s, 10)).See(With(Done(Flushing(2s, 20)), open));
    machine.Again(100s).Again(100s);
    EXPECT_EQ(machine.Text(), "term wait wait wait wait: flushing");
  }
}

TEST(Finish, GivesAWordThatMayBeAnothersNoShortDeadline) {
  Machine machine({Kind::kAbsent, "there is no trace", 0});
  const auto others = [](auto& seen) { seen.others = 1, seen.file = 0; };
  machine.See(At(0s)).See(With(Done(Flushing(1s, 10)), others)).Again(0s).Again(0s).Again(299s);
  EXPECT_EQ(machine.Text(), "term wait verify wait wait: flushing");
}

TEST(Finish, LosesADoneTraceThatIsIncompleteOnceNothingMoves) {
  Machine machine({Kind::kGaps, "3 dispatches are missing", 97});
  machine.See(At(0s)).See(Flushing(1s, 10)).See(Done(Flushing(2s, 20))).Again(0s).Again(9s);
  EXPECT_EQ(machine.Text(), "term wait verify wait wait: flushing");
  machine.Again(1s);
  EXPECT_EQ(machine.Text(), "term wait verify wait wait kill: lost");
  EXPECT_EQ(machine.state.why,
            "the tool said that it has written everything, but 3 dispatches are missing");
}

TEST(Finish, NeverWaitsForTheEndOfAServerWithADoneTrace) {
  Machine machine;
  const auto busy = [](auto& seen) { seen.cpu = seen.now; };
  machine.See(At(0s)).See(With(Done(Flushing(1s, 10)), busy)).Again(0s).Again(50ms);
  EXPECT_EQ(machine.Text(), "term wait verify kill: safe");
}

TEST(Finish, ReadsWhatAServerLeftBehind) {
  Machine machine;
  machine.See(At(0s)).See(Gone(At(1s))).Again(0s);
  EXPECT_EQ(machine.Text(), "term verify kill: safe");
  EXPECT_EQ(machine.state.evidence, Evidence::kLeft);
}

TEST(Finish, SendsNoSignalToAServerThatHasLeft) {
  Machine machine({Kind::kAbsent, "there is no trace", 0});
  machine.See(Gone(At(5s))).Again(0s);
  EXPECT_EQ(machine.Text(), "verify kill: lost");
  EXPECT_EQ(machine.state.why, "the server left, and there is no trace");
  EXPECT_EQ(machine.state.asked, Nanos(5s));
}

TEST(Finish, SendsNoSignalToAServerThatAlreadyWrites) {
  Machine machine;
  machine.See(Flushing(0s, 10)).See(Flushing(1s, 20)).See(Done(Flushing(2s, 30))).Again(0s);
  EXPECT_EQ(machine.Text(), "wait wait verify kill: safe");
}

TEST(Finish, AsksAServerWhoseChildHasWrittenATraceBefore) {
  Machine machine;
  machine.See(With(At(0s), [](auto& seen) {
    seen.marks.returned = seen.marks.writing = true;
    seen.others = 1;
  }));
  EXPECT_EQ(machine.Text(), "term: asked");
}

TEST(Finish, ReadsAgainWhenTheServerLeavesWhileItIsRead) {
  Machine machine;
  machine.See(At(0s)).See(Flushing(1s, 10)).See(Done(Flushing(2s, 20))).See(Gone(At(3s))).Again(0s);
  EXPECT_EQ(machine.Text(), "term wait verify verify kill: safe");
}

TEST(Finish, SaysThatTheDiskWasFull) {
  Machine machine({Kind::kUnfinished, "it was cut", 10});
  machine.See(At(0s)).See(Flushing(1s, 10));
  machine.See(Gone(With(Flushing(2s, 10), [](auto& seen) {
    seen.marks.failed = true;
    seen.marks.failure = "database or disk is full";
  })));
  machine.Again(0s);
  EXPECT_EQ(machine.Text(), "term wait verify kill: lost");
  EXPECT_EQ(machine.state.why,
            "the server left because the tool could not write (database or disk is full), and it "
            "was cut");
}

TEST(Finish, AsksTheToolsOwnHandlerWhenTheServersStopBringsNothing) {
  Machine machine;
  machine.See(At(0s)).See(At(29s)).See(At(30s)).See(Flushing(31s, 10));
  machine.See(Done(Flushing(32s, 10))).Again(0s);
  EXPECT_EQ(machine.Text(), "term wait quit wait verify kill: safe");
}

TEST(Finish, GivesABusyServerMoreTimeToBegin) {
  Machine machine;
  const auto busy = [](auto& seen) { seen.cpu = seen.now; };
  machine.See(At(0s)).See(With(At(299s), busy)).See(With(At(300s), busy));
  EXPECT_EQ(machine.Text(), "term wait quit: asked");
}

TEST(Finish, DoesNotAskTheToolThatMayBeAtItAlready) {
  Machine machine;
  machine.state.clean = false;
  machine.See(At(0s)).See(At(30s));
  EXPECT_EQ(machine.Text(), "term kill: lost");
}

TEST(Finish, DoesNotAskTheToolWhereNobodyWouldTakeTheSignal) {
  Machine machine;
  const auto deaf = [](auto& seen) { seen.catches_quit = false; };
  machine.See(At(0s)).See(With(At(30s), deaf));
  EXPECT_EQ(machine.Text(), "term kill: lost");
  EXPECT_EQ(machine.state.why,
            "the server was asked to stop, and began to write nothing for "
            "30.000 s, using no CPU");
}

TEST(Finish, GivesUpAHandlerThatDeadlocked) {
  Machine machine;
  const auto caught = [](auto& seen) { seen.marks.handler = true; };
  machine.See(At(0s)).See(With(At(1s), caught)).See(With(At(300s), caught));
  EXPECT_EQ(machine.Text(), "term wait wait: flushing");
  machine.See(With(At(301s), caught));
  EXPECT_EQ(machine.Text(), "term wait wait kill: lost");
  EXPECT_EQ(machine.state.why, "the tool wrote nothing for 300.000 s, using no CPU");
}

TEST(Finish, GivesABusyFlushTwentyMinutesOfSilence) {
  Machine machine;
  const auto busy = [](auto& seen) { seen.marks.finalizing = true, seen.cpu = seen.now; };
  machine.See(At(0s)).See(With(At(1s), busy)).See(With(At(1200s), busy));
  EXPECT_EQ(machine.Text(), "term wait wait: flushing");
  machine.See(With(At(1202s), busy));
  EXPECT_EQ(machine.Text(), "term wait wait kill: lost");
}

TEST(Finish, EndsChildrenThatTheToolWaitsFor) {
  Machine machine;
  const auto waits = [](auto& seen) {
    seen.marks.handler = seen.marks.children = true;
    seen.children = 2;
  };
  machine.See(At(0s)).See(With(At(1s), waits)).Again(9s).Again(1s).Again(9s).Again(1s).Again(1s);
  EXPECT_EQ(machine.Text(), "term wait wait term-children wait kill-children wait: flushing");
}

TEST(Finish, LeavesChildrenAloneThatStillWrite) {
  Machine machine;
  const auto waits = [](auto& seen) {
    seen.marks.handler = seen.marks.children = true;
    seen.children = 1;
  };
  machine.See(At(0s)).See(With(At(1s), waits));
  for (int i = 2; i < 6; ++i) {
    machine.See(With(At(i * 5s), [&](auto& seen) {
      waits(seen);
      seen.bytes = static_cast<std::uint64_t>(i);
    }));
  }
  EXPECT_EQ(machine.Text(), "term wait wait wait wait wait: flushing");
}

TEST(Finish, StopsAtOnceWhenTheUserWants) {
  for (const Observation& seen : {At(1s), Flushing(1s, 10), Done(Flushing(1s, 10))}) {
    Machine machine;
    machine.See(At(0s)).See(With(seen, [](auto& it) { it.interrupted = true; }));
    EXPECT_EQ(machine.Text(), "term kill: interrupted");
  }
}

TEST(Finish, LimitsScaleButForTheLooks) {
  const Limits tenth = Limits().Scaled(0.1);
  EXPECT_EQ(tenth.sign, Nanos(3s));
  EXPECT_EQ(tenth.busy, Nanos(120s));
  EXPECT_EQ(tenth.between_looks, Limits().between_looks);
}

// Anything, as if chosen by somebody who wants the trace to be lost.
Observation Random(std::mt19937& random, Nanos now) {
  const auto once_in = [&random](unsigned n) { return random() % n == 0; };
  Observation seen;
  seen.now = now;
  seen.interrupted = once_in(200);
  seen.alive = !once_in(100);
  seen.marks.handler = once_in(4);
  seen.marks.children = once_in(8);
  seen.marks.finalizing = once_in(8);
  seen.marks.writing = once_in(8);
  seen.marks.done = once_in(8);
  seen.marks.failed = once_in(8);
  seen.bytes = random() % 3;
  seen.file = random() % 3;
  seen.journal = once_in(3);
  if (!once_in(3)) seen.open = once_in(2);
  if (!once_in(3)) seen.cpu = once_in(2) ? now : Nanos(0);
  if (!once_in(3)) seen.written = random() % 2;
  seen.catches_quit = once_in(2);
  seen.children = random() % 2;
  seen.others = random() % 2;
  return seen;
}

TEST(Finish, WhateverIsSeenASafeTraceIsACompleteOneAndNoSignalIsSentTwice) {
  std::mt19937 random(1);
  for (int run = 0; run < 20'000; ++run) {
    State state{.clean = random() % 2 == 0};
    bool verified = false, open = false;
    int terminated = 0, quit = 0;
    Nanos now{};
    for (int step = 0; step < 60; ++step) {
      now += Nanos(random() % 40'000'000'000);
      Observation seen = Random(random, now);
      if (verified) {
        seen.verdict = Verdict{static_cast<Kind>(random() % 7), "", 1};
      }
      const Phase before = state.phase;
      const auto [next, action] = Next(state, seen, kLimits);
      state = next;
      terminated += action == Action::kTerminate ? 1 : 0;
      quit += action == Action::kAskTool ? 1 : 0;
      if (action == Action::kVerify) {
        verified = true;
        open = seen.alive && (seen.journal || seen.open == true);
      }
      ASSERT_LE(terminated, 1);
      ASSERT_LE(quit, 1);
      ASSERT_FALSE(action == Action::kTerminate && before != Phase::kReturned);
      ASSERT_FALSE(action == Action::kAskTool && (seen.marks.handler || seen.file > 0));
      ASSERT_FALSE(open);
      const bool final = state.phase >= Phase::kSafe;
      ASSERT_EQ(action == Action::kKill, final);
      if (!final) continue;
      const bool complete = seen.verdict && seen.verdict->complete();
      ASSERT_TRUE(state.phase != Phase::kSafe || complete);
      ASSERT_TRUE(state.phase != Phase::kInterrupted || seen.interrupted);
      ASSERT_TRUE(state.phase != Phase::kLost || !state.why.empty());
      ASSERT_EQ(Next(state, At(now), kLimits).action, Action::kKill);
      break;
    }
  }
}

TEST(Finish, NothingThatStaysAsItIsIsWaitedForWithoutEnd) {
  std::mt19937 random(2);
  const Nanos all = kLimits.busy + 2 * (kLimits.idle + kLimits.children) + kLimits.sign + 10s;
  for (int run = 0; run < 500; ++run) {
    Machine machine({static_cast<Kind>(random() % 7), "why", 1});
    machine.See(Random(random, 0s));
    for (Nanos now{}; now <= all && machine.state.phase < Phase::kSafe; now += 5s) {
      machine.Again(5s);
      if (machine.last.cpu > 0s) *machine.last.cpu += 5s;
    }
    ASSERT_GE(machine.state.phase, Phase::kSafe) << machine.Text();
  }
}

}  // namespace
}  // namespace culprit::collect::rocprofv3
