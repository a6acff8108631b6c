#include "collect/rocprofv3/log_marks.h"

#include <gtest/gtest.h>

namespace culprit::collect::rocprofv3 {
namespace {

constexpr pid_t kServer = 4711;
constexpr const char* kWriting = "W0315 10:20:30.1 4711 x.cpp:9] writing SQL database for process ";
constexpr const char* kDone =
    "W0315 10:20:30.1 4711 tool.cpp:9] [rocprofv3] tool finalization ::  1.23 sec\n";

Marks MarksOf(const std::string& log) {
  LogMarks marks(kServer);
  marks.Add(log);
  return marks.marks();
}

std::string Writing(pid_t pid) { return kWriting + std::to_string(pid) + " on node 12\n"; }

TEST(LogMarks, FollowsTheToolsHandler) {
  Marks expected;
  expected.handler = true;
  std::string log = "W0315 10:20:30.1 4711 tool.cpp:9] rocprofv3 caught signal 15...\n";
  EXPECT_EQ(MarksOf(log), expected);
  log += "rocprofv3 will wait for 2 children\n";
  expected.children = true;
  EXPECT_EQ(MarksOf(log), expected);
  log += "rocprofv3 finalizing after signal 15...\n";
  expected.finalizing = true;
  EXPECT_EQ(MarksOf(log), expected);
  log += "E0315 Opened result file: /runs/trace-4711_results.db (UUID=00003fdc)\n" + Writing(4711);
  expected.writing = true;
  EXPECT_EQ(MarksOf(log), expected);
  log += kDone;
  expected.done = true;
  EXPECT_EQ(MarksOf(log), expected);
}

TEST(LogMarks, SeesTheCleanPath) {
  Marks expected;
  expected.own_stop = expected.returned = true;
  EXPECT_EQ(MarksOf("0.01.234.567 I srv    operator(): operator(): cleaning up before exit...\n"
                    "W0315 [rocprofv3] '/opt/llama-server -m \"a b\"' :: 12.345 sec\n"),
            expected);
}

TEST(LogMarks, TakesTheLineOfAProgramsStartNotForItsEnd) {
  EXPECT_EQ(
      MarksOf("W0315 10:20:30.1 140 simple_timer.cpp:55] [rocprofv3] tool initialization ::     "
              "0.393942 sec\n"
              "W0315 10:20:30.1 140 simple_timer.cpp:55] [rocprofv3] '/opt/llama-server -c 4096' "
              "::     0.000000 sec\n"
              "W0315 10:20:30.1 140 tool.cpp:2420] HSA version 8.20.0 initialized (instance=0)\n"),
      Marks());
}

TEST(LogMarks, TellsWhoSpeaksWhereALineSaysSo) {
  EXPECT_FALSE(MarksOf("W0315 [PPID=4711][PID=5000][x] rocprofv3 caught signal 15...\n").handler);
  EXPECT_TRUE(MarksOf("W0315 [PPID=4710][PID=4711][x] rocprofv3 caught signal 15...\n").handler);
}

TEST(LogMarks, ReadsALogInPiecesOfAnySize) {
  const std::string log = Writing(4711) + kDone;
  for (std::size_t cut = 0; cut <= log.size(); ++cut) {
    LogMarks marks(kServer);
    marks.Add(log.substr(0, cut));
    marks.Add(log.substr(cut));
    ASSERT_EQ(marks.marks(), MarksOf(log)) << cut;
  }
  LogMarks half(kServer);
  half.Add(log.substr(0, log.size() - 1));
  EXPECT_FALSE(half.marks().done);
}

TEST(LogMarks, TakesAChildsEndNotForTheServers) {
  EXPECT_FALSE(MarksOf(Writing(5000) + kDone).done);
  EXPECT_FALSE(MarksOf(Writing(5000) + Writing(4711) + kDone).done);
  EXPECT_TRUE(MarksOf(Writing(5000) + Writing(4711) + kDone + kDone).done);
}

TEST(LogMarks, TakesAnEndWhereNobodySaysWhoWrites) { EXPECT_TRUE(MarksOf(kDone).done); }

TEST(LogMarks, IsNotFooledByOtherTimers) {
  EXPECT_EQ(MarksOf("SQLite3 generation :: total                    ::  0.1 sec\n"
                    "SQLite3 generation :: rocpd_kernel_dispatch    ::  0.1 sec\n"
                    "[rocprofv3] output generation ::  0.1 sec\n"),
            Marks());
}

TEST(LogMarks, KeepsTheLineThatSaysWhyNothingCouldBeWritten) {
  EXPECT_FALSE(MarksOf("E slot save: No space left on device\n").failed);
  const Marks marks = MarksOf(
      Writing(4711) +
      "E0315 10:20:30.1 4711 generateRocpd.cpp:99] SQLite3: database or disk is full\x1b[31m\n"
      "No space left on device\n");
  EXPECT_TRUE(marks.failed);
  EXPECT_EQ(marks.failure, "SQLite3: database or disk is full\\x1b[31m");
}

TEST(LogMarks, KeepsTheFirstLineThatSaysWhatCannotBeCounted) {
  const Marks marks = MarksOf(
      "W0315 10:20:30.1 4711 tool.cpp:960] Unable to find all counters for agent 1 (gpu-0, "
      "gfx1151) "
      "in [A, B]. Found: [A]\n"
      "F0315 10:20:31.1 4711 tool.cpp:99] Could not construct profile cfg\n");
  EXPECT_EQ(marks.uncounted,
            "Unable to find all counters for agent 1 (gpu-0, gfx1151) in [A, B]. Found: [A]");
  EXPECT_FALSE(marks.failed || marks.flushes());
}

TEST(LogMarks, HoldsOnlyTheBeginningOfAnEndlessLine) {
  LogMarks marks(kServer);
  for (int i = 0; i < 1000; ++i) marks.Add(std::string(100'000, 'x'));
  marks.Add(std::string("\n") + kDone);
  EXPECT_TRUE(marks.marks().done);
}

TEST(LogMarks, SurvivesAnyNumberInPlaceOfAProcess) {
  EXPECT_TRUE(MarksOf(std::string(kWriting) + "99999999999999999999 on\n" + kWriting + "\n" +
                      kWriting + "-5 on\n" + kDone)
                  .done);
}

}  // namespace
}  // namespace culprit::collect::rocprofv3
