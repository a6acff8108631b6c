#include "analysis/rollup.h"

#include <gtest/gtest.h>

#include "analysis/synthetic_trace.h"

namespace culprit::analysis {
namespace {

using namespace synthetic;
using base::TraceTime;

Rollup RollWindow(const trace::Trace& trace, TraceTime begin, TraceTime end) {
  Window window{.begin = begin, .end = end};
  SetDispatchRange(trace, window);
  const auto groups = GroupLaunches(trace, window.first, window.last);
  const auto passes = FindPasses(trace, window, groups, {});
  const auto classes = Classify(trace, window, groups, passes, std::nullopt, ShippedRules());
  return Roll(trace, window, Own(trace, window), classes, passes);
}

// Line is one kernel of a rollup in µs: "mul exclusive 100 of 100 in 2 launches, short 0 in 0, per
// step 50 50".
std::string Line(const KernelCost& kernel) {
  const auto us = [](Nanos time) { return std::to_string(time.count() / 1000); };
  std::string line = kernel.short_name + ": " + us(kernel.exclusive) + " of " + us(kernel.summed) +
                     " in " + std::to_string(kernel.launches) + ", short " +
                     us(kernel.short_exclusive) + " in " + std::to_string(kernel.short_launches) +
                     ", steps";
  for (const Nanos time : kernel.per_step) line += " " + us(time);
  return line;
}
std::string Text(const Rollup& rollup) {
  std::string text = "wall " + std::to_string(rollup.wall.count() / 1000) + "\n";
  for (const KernelCost& kernel : rollup.kernels) text += Line(kernel) + "\n";
  text += "idle " + std::to_string(rollup.idle.count() / 1000) + ", steps";
  for (const Nanos time : rollup.idle_per_step) text += " " + std::to_string(time.count() / 1000);
  return text + "\n";
}

Works SmallStep() { return {{"k", 10us, {}, 2, 5us}, {"gemv", 40us, {kVocabulary, 1, 1}}}; }

TEST(Rollup, AddsUpKernelsAndIdleByStep) {
  Recording recording;
  const TraceTime begin = recording.now();
  recording.Run(Repeat(SmallStep(), 2));
  EXPECT_EQ(Text(RollWindow(recording.Finish(), begin, recording.now())),
            "wall 140\n"
            "k: 40 of 40 in 4, short 0 in 0, steps 20 20\n"
            "gemv: 80 of 80 in 2, short 0 in 0, steps 40 40\n"
            "idle 20, steps 10 10\n");
}

TEST(Rollup, GivesTheTailToTheLastStep) {
  Recording recording;
  const TraceTime begin = recording.now();
  recording.Run(Repeat(SmallStep(), 2) + Works{{"k", 7us}});
  recording.Rest(3us);
  EXPECT_EQ(Text(RollWindow(recording.Finish(), begin, recording.now())),
            "wall 150\n"
            "k: 47 of 47 in 5, short 0 in 0, steps 20 27\n"
            "gemv: 80 of 80 in 2, short 0 in 0, steps 40 40\n"
            "idle 23, steps 10 13\n");
}

TEST(Rollup, HasNoSeriesWhenStepsAreUnknown) {
  Recording recording;
  const TraceTime begin = recording.now();
  recording.Run({{"k", 10us, {}, 2, 5us}});
  const Rollup rollup = RollWindow(recording.Finish(), begin, recording.now());
  EXPECT_EQ(Text(rollup), "wall 30\nk: 20 of 20 in 2, short 0 in 0, steps\nidle 10, steps\n");
  EXPECT_EQ(rollup.steps, 0);
}

TEST(Rollup, CountsLaunchesUnderFiveMicrosecondsApart) {
  Recording recording;
  const TraceTime begin = recording.now();
  recording.Run({{"k", 4999ns, {}, 3}, {"k", 5us}});
  const Rollup rollup = RollWindow(recording.Finish(), begin, recording.now());
  EXPECT_EQ(rollup.kernels.front().short_launches, 3);
  EXPECT_EQ(rollup.kernels.front().short_exclusive, 3 * 4999ns);
  EXPECT_EQ(rollup.kernels.front().launches, 4);
}

TEST(Rollup, ClipsTimeToTheWindowAndCountsWhatStartsInIt) {
  Recording recording;
  const TraceTime begin = recording.now();
  recording.Run({{"before", 100us}, {"inside", 50us}, {"after", 100us}});
  // From the middle of the first to the middle of the last, whose whole duration is summed.
  EXPECT_EQ(Text(RollWindow(recording.Finish(), begin + 60us, begin + 180us)),
            "wall 120\n"
            "before: 40 of 0 in 0, short 0 in 0, steps\n"
            "inside: 50 of 50 in 1, short 0 in 0, steps\n"
            "after: 30 of 100 in 1, short 0 in 0, steps\n"
            "idle 0, steps\n");
}

TEST(Rollup, BooksALaunchThatWaitsOnWhatItWaitsFor) {
  Recording recording;
  const TraceTime begin = recording.now();
  recording.Run({{"attention", 100us}, {"combine", 5us, {}, 1, -80us}});
  const Rollup rollup = RollWindow(recording.Finish(), begin, recording.now());
  EXPECT_EQ(Text(rollup),
            "wall 105\n"
            "attention: 100 of 100 in 1, short 0 in 0, steps\n"
            "combine: 5 of 85 in 1, short 0 in 0, steps\n"
            "idle 0, steps\n");
  EXPECT_EQ(rollup.total().summed, 185us);
  EXPECT_EQ(rollup.exclusive(), 105us);
}

// The first law, in total and in each step, on several streams and devices, with launches that
// wait, and with windows that cut dispatches.
TEST(Rollup, AddsUpExactlyOnRandomTraces) {
  std::mt19937 random(20261201);
  const auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  for (int round = 0; round < 200; ++round) {
    Recording recording;
    const TraceTime first = recording.now();
    const int steps = pick(1, 6);
    for (int step = 0; step < steps; ++step) {
      Works works;
      for (int i = pick(0, 12); i > 0; --i) {
        works.push_back({"k" + std::to_string(pick(0, 4)),
                         Nanos(pick(0, 9000)),
                         {},
                         pick(1, 3),
                         Nanos(pick(-4000, 3000)),
                         pick(1, 3),
                         pick(0, 1)});
      }
      recording.Run(works + Works{{"gemv", Nanos(pick(1, 5000)), {kVocabulary, 1, 1}}});
    }
    const auto length = static_cast<int>((recording.now() - first).count());
    const int begin = pick(0, length - 1);
    const int end = pick(begin + 1, length);
    const Rollup rollup = RollWindow(recording.Finish(), first + Nanos(begin), first + Nanos(end));
    Nanos sum = rollup.idle;
    std::vector<Nanos> by_step = rollup.idle_per_step;
    for (const KernelCost& kernel : rollup.kernels) {
      sum += kernel.exclusive;
      Nanos steps_sum{};
      for (std::size_t i = 0; i < kernel.per_step.size(); ++i) {
        by_step[i] += kernel.per_step[i];
        steps_sum += kernel.per_step[i];
      }
      EXPECT_EQ(steps_sum, rollup.steps > 0 ? kernel.exclusive : Nanos(0)) << kernel.name;
    }
    EXPECT_EQ(sum, Nanos(end - begin)) << "round " << round;
    Nanos all_steps{};
    for (const Nanos time : by_step) all_steps += time;
    EXPECT_EQ(all_steps, rollup.steps > 0 ? rollup.wall : Nanos(0)) << "round " << round;
  }
}

// Each kernel has a time for each step, which a hostile trace could make too many to hold.
TEST(Rollup, LeavesOutSeriesThatWouldNotFit) {
  Recording recording;
  const TraceTime begin = recording.now();
  Works works;
  for (int i = 0; i < 9000; ++i) {
    works.push_back({"k" + std::to_string(i), 1us});
    works.push_back({"gemv", 1us, {kVocabulary, 1, 1}});
  }
  recording.Run(works);
  const Rollup rollup = RollWindow(recording.Finish(), begin, recording.now());
  EXPECT_EQ(rollup.kernels.size(), 9001u);
  EXPECT_EQ(rollup.steps, 0);
  EXPECT_TRUE(rollup.kernels.front().per_step.empty());
}

KernelCost Kernel(std::string category, std::string name, Nanos exclusive, Nanos first_step) {
  KernelCost kernel;
  kernel.category = std::move(category);
  kernel.short_name = std::move(name);
  kernel.exclusive = exclusive;
  kernel.launches = 1;
  kernel.per_step = {first_step, exclusive - first_step};
  return kernel;
}

TEST(ByCategory, PutsTheLargestFirst) {
  Rollup rollup;
  rollup.kernels = {Kernel("norm", "b", 2us, 1us), Kernel("attention", "d", 5us, 4us),
                    Kernel("norm", "a", 2us, 2us), Kernel("norm", "c", 3us, 1us)};
  std::string text;
  for (const Category& category : ByCategory(rollup)) {
    text += category.name + " " + std::to_string(category.cost.launches) + ":";
    for (const KernelCost* kernel : category.kernels) text += " " + kernel->short_name;
    for (const Nanos time : category.cost.per_step) text += " " + std::to_string(time / 1us);
    text += "\n";
  }
  EXPECT_EQ(text,
            "norm 3: c a b 4 3\n"
            "attention 1: d 4 1\n");
  EXPECT_EQ(rollup.total().exclusive, 12us);
}

}  // namespace
}  // namespace culprit::analysis
